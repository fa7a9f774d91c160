"""A disposable Debian, its own sshd, Debian's own content: scanned over SSH, hardened, locked out, undone."""

import time
from pathlib import Path

import pytest

from app.scanners.openscap.benchmark import read_benchmark
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.scap_files import ScapContent
from tests.hostfiles import DictFiles
from tests.hosts.over_ssh import OverSsh

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(600)]

CONTENT = "usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
FILES = DictFiles({})
SSHD = "/etc/ssh/sshd_config"


@pytest.fixture(scope="module")
def scanner(machine):
    file = machine.folder.parent / "bases" / (machine.folder / "base").read_text() / CONTENT
    benchmark = read_benchmark(file)
    profile = benchmark.resolve_profile_id("anssi_bp28_enhanced")
    ids = {rule.name: rule.id for rule in benchmark.list_profile_rules(profile)}
    return OpenScapScanner(
        OverSsh(machine.get_access()), ScapContent(file, profile), ids, "/var/cache/temper/scap"
    ), ids


async def words(scanner, rules):
    return {one.rule: one.word for one in await scanner[0].scan(FILES, rules)}


async def test_a_whole_profile_is_judged_over_ssh(scanner):
    judge, ids = scanner
    verdicts = {one.rule: one for one in await judge.scan(FILES, list(ids))}
    judged = [one for one in verdicts.values() if one.word in ("pass", "fail")]
    assert len(verdicts) == len(ids) > 300
    assert len(judged) > 150
    assert {one.word for one in verdicts.values()} >= {"pass", "fail", "notapplicable", "unknown"}
    assert verdicts["sshd_disable_root_login"].word == "fail"
    assert verdicts["package_telnet_removed"].word == "pass"
    assert verdicts["file_permissions_sshd_config"].evidence.endswith("/etc/ssh/sshd_config has mode 0644, owner 0:0.")


async def test_the_scanner_passes_what_locks_root_out_and_a_reset_undoes_it(machine, scanner):
    host, root = OverSsh(machine.get_access()), OverSsh(machine.get_access("root"))
    assert await root.may_log_in()
    await host.run(["sed", "-i", "1i PermitRootLogin no", SSHD], 20)
    await host.run(["sh", "-c", "kill -HUP $(cat /run/sshd.pid)"], 20)
    assert await words(scanner, ["sshd_disable_root_login"]) == {"sshd_disable_root_login": "pass"}
    assert await host.may_log_in()
    assert not await root.may_log_in()
    machine.reset()
    assert await root.may_log_in()
    assert await words(scanner, ["sshd_disable_root_login"]) == {"sshd_disable_root_login": "fail"}


async def test_sshd_comes_back_when_it_is_killed(machine):
    host = OverSsh(machine.get_access())
    await host.run(["sh", "-c", "kill -KILL $(cat /run/sshd.pid)"], 20)
    assert machine.start().port == machine.get_access().port
    deadline = time.monotonic() + 10
    while not await host.may_log_in():
        assert time.monotonic() < deadline


async def test_root_in_it_is_nobody_outside(machine):
    ran = await OverSsh(machine.get_access()).run(["cat", "/proc/self/uid_map", "/proc/sys/kernel/hostname"], 20)
    inside, outside, count = ran.stdout.split()[:3]
    assert (inside, count) != (b"0", b"4294967295")
    assert outside != b"0"
    refused = await OverSsh(machine.get_access()).run(["sh", "-c", "echo 1 > /proc/sys/kernel/dmesg_restrict"], 20)
    assert refused.code != 0


async def test_reset_makes_it_new_and_stop_leaves_nobody(machine):
    host = OverSsh(machine.get_access())
    await host.run(["sh", "-c", "echo changed > /etc/motd; setsid sleep 600 > /dev/null 2>&1 &"], 20)
    known = (machine.folder / "known_hosts").read_text()
    machine.reset()
    assert (machine.folder / "known_hosts").read_text() == known
    assert b"changed" not in (await OverSsh(machine.get_access()).run(["cat", "/etc/motd"], 20)).stdout
    pids = _of(machine.name)
    assert pids
    machine.stop()
    assert _of(machine.name) == []
    machine.start()


def _of(name):
    """Everybody who stands on the machine's file system."""
    found = []
    for one in Path("/proc").iterdir():
        try:
            if one.name.isdigit() and f"upperdir={name}/upper" in (one / "mounts").read_text():
                found.append(int(one.name))
        except OSError:
            continue
    return found
