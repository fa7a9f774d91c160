import asyncio
import hashlib
import logging
import os
import shutil
import subprocess

import pytest

from app.scanners.openscap.datastream_excerpt import DataStream
from app.scanners.openscap.local_oscap_shell import TreeShell
from app.scanners.openscap.oscap_command import OscapResult
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.scap_files import ScapContent
from tests.hostfiles import DictFiles
from tests.scanners.openscap.content import ARF, DATA, PROFILE, RULE, SMALL, SSG, TAILORING

FILES = DictFiles({})
DIGEST = hashlib.sha256(SMALL.read_bytes()).hexdigest()
NOTES = DATA / "README.md"
IDS = {name: SSG + name for name in ("sshd_disable_root_login", "package_telnet_removed", "prefer_64bit_os")}


class PlayedHost:
    """A host whose shell is this machine's. Its oscap keeps what it reads, and answers with a report of a real scan."""

    def __init__(self, folder, code=2, report=ARF):
        self.folder, self.asked = folder / "scap", []
        self._bin, self._read = folder / "bin", folder / "read"
        self._bin.mkdir()
        (self._bin / "oscap").write_text(
            f"""#!/bin/sh
for last; do [ "$before" = --tailoring-file ] && cat "$last" >{self._read}-tailoring; before=$last; done
cat "$last" >{self._read} || exit 1
printf 'rule:pass\\n{RULE}one:pass\\nTitle\\n{RULE}two:fail\\n{RULE}two:fail\\n'
[ ! -f "{report}" ] || cat "{report}" >result.xml
exit {code}
"""
        )
        (self._bin / "oscap").chmod(0o700)

    async def run(self, argv, timeout, stdin=b"", heard=None):  # noqa: ASYNC109
        self.asked += [argv[argv.index("oscap") :]] if "oscap" in argv else []
        path = {"PATH": f"{self._bin}:{os.environ['PATH']}"}
        asked = {"input": stdin, "capture_output": True, "check": False, "env": path, "timeout": timeout}
        ran = await asyncio.to_thread(subprocess.run, argv, **asked)
        for line in ran.stdout.splitlines():
            if heard:
                heard(line.decode("utf-8", "replace"))
        return OscapResult(ran.returncode, ran.stdout, ran.stderr)

    @property
    def files(self):
        return {file.name: file.read_bytes() for file in self.folder.iterdir()} if self.folder.is_dir() else {}

    @property
    def read(self):
        """What oscap read last."""
        return self._read.read_bytes()

    @property
    def read_tailoring(self):
        return (self._read.parent / "read-tailoring").read_bytes()


@pytest.fixture
def host(tmp_path):
    return PlayedHost(tmp_path)


def scanner(host, ids=IDS, tailoring=b""):
    return OpenScapScanner(host, ScapContent(SMALL, f"{PROFILE}base", tailoring), ids, f"{host.folder}/")


async def test_verdicts_come_in_the_order_asked_and_what_the_report_leaves_out_is_unknown(host):
    verdicts = await scanner(host).scan(FILES, [*reversed(IDS), "V-1"])
    assert [(one.rule, one.word) for one in verdicts] == [
        ("prefer_64bit_os", "unknown"),
        ("package_telnet_removed", "pass"),
        ("sshd_disable_root_login", "fail"),
        ("V-1", "unknown"),
    ]


async def test_the_whole_content_stays_on_the_host_and_nothing_else_does(host):
    for one in (scanner(host), scanner(host)):
        await one.scan(FILES, list(IDS))
        assert host.read == SMALL.read_bytes()
        assert host.files == {f"{DIGEST}.xml": SMALL.read_bytes()}
    assert all("--skip-valid" not in asked and "--rule" not in asked for asked in host.asked)


@pytest.mark.parametrize("there", [{}, {f"{DIGEST}.xml": b"all pass"}], ids=["lost", "changed"])
async def test_content_that_the_host_has_lost_or_changed_is_put_anew(host, there):
    one = scanner(host)
    await one.scan(FILES, list(IDS))
    (host.folder / f"{DIGEST}.xml").unlink()
    for name, content in there.items():
        (host.folder / name).write_bytes(content)
    assert {verdict.word for verdict in await one.scan(FILES, list(IDS))} == {"pass", "fail", "unknown"}
    assert host.files == {f"{DIGEST}.xml": SMALL.read_bytes()}
    assert host.read == SMALL.read_bytes()


async def test_some_rules_are_judged_on_an_excerpt_that_leaves_nothing_on_the_host(host):
    ids = {"root": f"{RULE}root_login", "by_hand": f"{RULE}by_hand", "release": f"{RULE}release"}
    await scanner(host, ids).scan(FILES, ["root", "release"])
    assert (
        host.read
        == DataStream(SMALL.read_bytes()).build_excerpt_and_tailoring(f"{PROFILE}base", [ids["root"], ids["release"]])[
            0
        ]
    )
    assert len(host.read) < SMALL.stat().st_size
    assert host.files == {}
    assert "--skip-valid" in host.asked[0]


async def test_some_rules_of_content_that_cannot_be_cut_are_judged_on_the_whole(host):
    await scanner(host).scan(FILES, ["package_telnet_removed"])
    assert host.read == SMALL.read_bytes()
    assert [host.asked[-1][place + 1] for place, word in enumerate(host.asked[-1]) if word == "--rule"] == [
        IDS["package_telnet_removed"]
    ]


async def test_the_rules_judged_so_far_are_counted(host):
    counted = []
    await scanner(host).scan(FILES, list(IDS), counted.append)
    assert counted == [1, 2, 2]


@pytest.mark.parametrize(
    ("code", "report", "says"),
    [(127, ARF, "not installed"), (124, ARF, "longer than"), (2, "none", "left no result"), (2, NOTES, "not well")],
    ids=["absent", "late", "empty", "foreign"],
)
async def test_a_scan_that_fails_is_an_error_for_every_rule_and_never_a_pass(tmp_path, code, report, says, caplog):
    host = PlayedHost(tmp_path, code, report)
    with caplog.at_level(logging.CRITICAL):
        verdicts = await scanner(host).scan(FILES, list(IDS))
    assert {one.word for one in verdicts} == {"error"}
    assert all(says in one.evidence for one in verdicts)
    assert set(host.files) == {f"{DIGEST}.xml"}


async def test_a_host_without_room_for_the_content_is_said_to_have_none(host, caplog):
    host.folder.write_text("a file")
    with caplog.at_level(logging.CRITICAL):
        (verdict,) = await scanner(host, {"root": f"{RULE}root_login", "by_hand": f"{RULE}by_hand"}).scan(
            FILES, ["root"]
        )
    assert verdict.word == "error"
    assert "No folder can be made" in verdict.evidence


async def test_a_rehearsal_is_not_judged_and_no_host_is_asked(host):
    assert [one.word for one in await scanner(host).scan_rehearsal_if_supported(FILES, list(IDS))] == ["unknown"] * 3
    assert host.asked == []


async def test_a_tailoring_lies_beside_the_content_and_is_named_to_openscap(host):
    by = TAILORING.read_bytes()
    await scanner(host, tailoring=by).scan(FILES, list(IDS))
    assert host.files == {f"{DIGEST}.xml": SMALL.read_bytes(), f"{hashlib.sha256(by).hexdigest()}.xml": by}
    assert host.read_tailoring == by


async def test_an_excerpt_has_the_tailorings_lines_about_its_rules(host):
    content = ScapContent(SMALL, f"{PROFILE}ours", TAILORING.read_bytes())
    ids = {"root": f"{RULE}root_login", "release": f"{RULE}release"}
    await OpenScapScanner(host, content, ids, str(host.folder)).scan(FILES, ["root"])
    assert b"root_login" in host.read
    assert b"release" not in host.read + host.read_tailoring
    assert f"{PROFILE}ours".encode() in host.read_tailoring


async def test_the_real_one_goes_by_a_tailoring(tmp_path):
    (tmp_path / "root/etc/ssh").mkdir(parents=True)
    (tmp_path / "root/etc/ssh/sshd_config").write_text("PermitRootLogin no\n")
    content = ScapContent(SMALL, f"{PROFILE}ours", TAILORING.read_bytes())
    ids = {"root": f"{RULE}root_login", "by_hand": f"{RULE}by_hand", "release": f"{RULE}release"}
    cache = tmp_path / "cache"
    said = await OpenScapScanner(TreeShell(tmp_path / "root", cache), content, ids, str(cache)).judge_rules([*ids])
    assert [one.word for one in said] == ["pass", "unknown", "fail"]
    assert "notselected" in said[1].evidence


@pytest.mark.skipif(not shutil.which("oscap"), reason="openscap-scanner is not installed")
@pytest.mark.parametrize(("says", "word"), [("no", "pass"), ("yes", "fail")])
async def test_the_real_one_reads_a_tree(tmp_path, says, word):
    (tmp_path / "root/etc/ssh").mkdir(parents=True)
    (tmp_path / "root/etc/ssh/sshd_config").write_text(f"PermitRootLogin {says}\n")
    cache = tmp_path / "cache"
    real = OpenScapScanner(
        TreeShell(tmp_path / "root", cache),
        ScapContent(SMALL, f"{PROFILE}base"),
        {"V-257985": f"{RULE}root_login", "by_hand": f"{RULE}by_hand"},
        str(cache),
    )
    root, by_hand = await real.judge_rules(["V-257985", "by_hand"])
    assert (root.word, root.path) == (word, "/etc/ssh/sshd_config" if word == "fail" else root.path)
    assert f"/etc/ssh/sshd_config says 'PermitRootLogin {says}'" in root.evidence
    assert by_hand.word == "unknown"
    assert [one.name for one in cache.iterdir()] == [f"{DIGEST}.xml"]
