"""On a real Debian over SSH: what the scanner passes a new login notices, and what is cut short is accounted for."""

import asyncio
import random
import subprocess
from contextlib import suppress

import pytest

from app.targets.host_registry import open_target
from tests.hosts.over_ssh import OverSsh

pytestmark = [pytest.mark.real_host, pytest.mark.timeout(900)]

ROOT_LOGIN = "V-257985"
SSH_RULES = "V-257984,V-257985,V-257992,V-257993,V-257995,V-258003,V-258007,V-258041"
CONTENT = "usr/share/xml/scap/ssg/content/ssg-debian12-ds.xml"
WORDS = ("--host", "deb", "--mode", "auto", "--rules", SSH_RULES, "--speed", "20")
CUTS = 20
SMALL_DISK = """set -e
mkdir -p /mnt /var/lib/temper
mount -t tmpfs -o size=24m,mode=0755 small /mnt
cp -a /etc /var/lib/temper /mnt
mount --bind /mnt/etc /etc
mount --bind /mnt/temper /var/lib/temper
"""
READ_ONLY = """for at in /etc /var/lib/temper; do
  until mount -o remount,bind,ro $at 2>/dev/null; do sleep 0.01; done
done"""
HEALED = "rm -f /mnt/full; for at in /etc /var/lib/temper; do mount -o remount,bind,rw $at || exit 1; done"
KINDS = {
    "temper is killed": lambda _machine: None,
    "temper and sshd are killed": lambda machine: _inside(machine, "(sleep 0.05; kill -9 $(cat /run/sshd.pid)) &"),
    "the disk is full": lambda machine: _inside(machine, "cat /dev/zero >/mnt/full 2>/dev/null; true"),
    "the disk is read-only": lambda machine: _inside(machine, READ_ONLY),
}
DISKS = ("the disk is full", "the disk is read-only")


def kinds(events, kind):
    return [event for event in events if event["kind"] == kind]


def settings(machine):
    """What stands on the host, read by a way of our own."""
    script = "cat /etc/ssh/sshd_config /etc/ssh/sshd_config.d/* /etc/login.defs | sha256sum"
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", script], 30))
    return ran.stdout


def test_the_root_login_rule_is_passed_noticed_and_undone_within_two_seconds(site, machine):
    before = settings(machine)
    words = ("--host", "deb", "--mode", "auto", "--rules", ROOT_LOGIN, "--attempts", "1", "--speed", "0")
    done = site.temper("run", *words)
    assert done.returncode == 2, done.stderr
    events = site.events()
    (verdict,) = [event for event in kinds(events, "verdict") if event["phase"] == "attempt"]
    assert verdict["word"] == "pass"
    (probed,) = kinds(events, "sentry.probed")
    assert [probe["name"] for probe in probed["probes"] if not probe["ok"]] == ["login-root"]
    (undone,) = kinds(events, "action.rolled_back")
    assert undone["seconds"] < 2
    assert undone["differences"] == []
    assert all(probe["ok"] for probe in undone["probes"])
    assert settings(machine) == before
    assert asyncio.run(OverSsh(machine.get_access("root")).may_log_in())


def test_a_run_of_a_data_streams_thirty_rules_has_openscaps_verdicts_and_papers_that_hold(site, machine, monkeypatch):
    monkeypatch.setenv("HOME", str(site.data / "home"))
    base = machine.folder.parent / "bases" / (machine.folder / "base").read_text()
    assert site.temper("scap", "add", str(base / CONTENT), data=False).returncode == 0
    words = ("--host", "deb", "--skill", "scap:ssg-debian12:anssi_bp28_minimal", "--mode", "auto")
    done = site.temper("run", *words, "--attempts", "1", "--speed", "0")
    assert done.returncode == 2, done.stderr
    events = site.events()
    asked = set(events[0]["rules"])
    assert len(asked) > 30
    verdicts = kinds(events, "verdict")
    assert {verdict["rule"] for verdict in verdicts if verdict["phase"] == "opening"} == asked
    assert all(verdict["scanner"].startswith("OpenSCAP") for verdict in verdicts)
    (scoped,) = kinds(events, "run.scoped")
    ended = {event["rule"] for event in events if event["kind"] in ("item.passed", "item.escalated", "item.deferred")}
    assert ended == set(scoped["order"])
    pack = site.data / "evidence.zip"
    assert site.temper("evidence", events[0]["run"], "--out", str(pack)).returncode == 0
    checked = site.temper("verify", str(pack), "--key", site.temper("key").stdout.split()[0])
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_twenty_random_cuts_leave_a_host_that_the_log_accounts_for(site, machine):
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed {seed}")
    dice, to_come = random.Random(seed), [*KINDS] * (CUTS // len(KINDS))
    dice.shuffle(to_come)
    _on_a_small_disk(machine)
    while to_come:
        if _cut_short(site, machine, dice, to_come[-1]):
            to_come.pop()
        else:
            # It came through: a new run on a host made new goes on being cut.
            _accounted_for(site)
            machine.reset()
            _on_a_small_disk(machine)
    last = site.temper("run", *WORDS)
    assert last.returncode in (0, 2), last.stdout + last.stderr
    _accounted_for(site)


def _cut_short(site, machine, dice, kind):
    """False where the run was over before the cut."""
    running = subprocess.Popen(
        site.command("run", *WORDS), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        told = running.communicate(timeout=dice.uniform(0.5, 4))[1]
    except subprocess.TimeoutExpired:
        KINDS[kind](machine)
        if kind in DISKS:
            with suppress(subprocess.TimeoutExpired):
                running.communicate(timeout=dice.uniform(0, 3))
        running.kill()
        running.communicate()
        machine.start()
        if kind in DISKS:
            _inside(machine, HEALED)
        if dice.random() < 0.5:
            _taken_back(site)
        return True
    assert running.returncode in (0, 2), told
    return False


def _taken_back(site):
    """By a person, instead of by the next run."""
    undone = site.temper("host", "check", "deb", "--undo")
    assert undone.returncode == 0, undone.stdout + undone.stderr


def _on_a_small_disk(machine):
    """One disk for what is changed and for its pre-images, as on a host; and nothing of this machine's."""
    _inside(machine, SMALL_DISK)


def _inside(machine, script):
    ran = asyncio.run(OverSsh(machine.get_access()).run(["sh", "-c", script], 30))
    assert ran.code == 0, ran.stderr


def _accounted_for(site):
    """The digest that the log ended with is the host's own, nothing is left open, and everybody comes in."""
    (finished,) = kinds(site.events(), "run.finished")
    target = open_target("deb", site.data / "hosts")
    try:
        assert target.list_pending() == []
        probes = target.check_health()
        assert [probe.name for probe in probes if not probe.ok] == []
        assert target.compute_digest() == finished["tree"]
    finally:
        target.close()
