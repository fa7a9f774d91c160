import gzip
import hashlib
import logging
import shutil
from functools import cache

import pytest

from app.scanners.openscap.content import ScapContent
from app.scanners.openscap.oscap_command import OscapResult
from app.scanners.openscap.scanner import OpenScapScanner
from app.scanners.openscap.tree_shell import TreeShell
from tests.hostfiles import DictFiles
from tests.scanners.openscap.content import ARF, PROFILE, RULE, SMALL, SSG, TAILORING

FILES = DictFiles({})
DIGEST = hashlib.sha256(SMALL.read_bytes()).hexdigest()
IDS = {name: SSG + name for name in ("sshd_disable_root_login", "package_telnet_removed", "prefer_64bit_os")}


@cache
def a_real_one():
    return gzip.compress(ARF.read_bytes())


class PlayedHost:
    """A host at the other end of a shell, that holds files and answers oscap with a report kept from a real scan."""

    def __init__(self, oscap: OscapResult = OscapResult(2, b"", b""), result: bytes | None = None):  # noqa: B008
        self.files, self.ran, self._oscap, self._result = {}, [], oscap, a_real_one() if result is None else result

    async def run(self, argv, timeout):  # noqa: ASYNC109
        self.ran.append(list(argv))
        match argv:
            case ["sha256sum", path]:
                held = self.files.get(path)
                return (
                    OscapResult(1, b"", b"")
                    if held is None
                    else OscapResult(0, hashlib.sha256(held).hexdigest().encode() + b" x", b"")
                )
            case ["mv", "-f", old, new]:
                self.files[new] = self.files.pop(old)
            case ["timeout", *rest]:
                if self.files.get(rest[-1]) != SMALL.read_bytes():
                    return OscapResult(1, b"", f"OpenSCAP Error: Unable to open file: '{rest[-1]}'".encode())
                self.files[rest[rest.index("--results-arf") + 1]] = b"arf"
                return self._oscap
            case ["gzip", "-f", path]:
                self.files[f"{path}.gz"] = self._result
            case ["rm", "-f", *paths]:
                for path in paths:
                    self.files.pop(path, None)
        return OscapResult(0, b"", b"")

    async def read_file(self, path, limit):
        return self.files.get(path)

    async def write_file(self, path, content):
        self.files[path] = content

    @property
    def asked(self):
        return [argv for argv in self.ran if "oscap" in argv]


def scanner(host, ids=IDS):
    return OpenScapScanner(host, ScapContent(SMALL, f"{PROFILE}base"), ids, "/var/cache/temper/")


async def test_verdicts_come_in_the_order_asked_and_what_the_report_leaves_out_is_unknown():
    verdicts = await scanner(PlayedHost()).scan(FILES, [*reversed(IDS), "V-1"])
    assert [(one.rule, one.word) for one in verdicts] == [
        ("prefer_64bit_os", "unknown"),
        ("package_telnet_removed", "pass"),
        ("sshd_disable_root_login", "fail"),
        ("V-1", "unknown"),
    ]


async def test_content_goes_to_the_host_once_and_nothing_else_stays():
    host = PlayedHost()
    for one in (scanner(host), scanner(host)):
        await one.scan(FILES, list(IDS))
        await one.scan(FILES, ["package_telnet_removed"])
    assert list(host.files) == [f"/var/cache/temper/{DIGEST}.xml"]
    assert sum(argv[0] == "mv" for argv in host.ran) == 1
    whole, single = host.asked[:2]
    assert "--rule" not in whole
    assert [single[place + 1] for place, word in enumerate(single) if word == "--rule"] == [
        IDS["package_telnet_removed"]
    ]


async def test_content_that_somebody_changed_on_the_host_is_put_anew():
    host = PlayedHost()
    host.files[f"/var/cache/temper/{DIGEST}.xml"] = b"all pass"
    await scanner(host).scan(FILES, list(IDS))
    assert host.files == {f"/var/cache/temper/{DIGEST}.xml": SMALL.read_bytes()}


async def test_content_that_a_restored_host_has_lost_is_put_anew_by_the_same_scanner():
    host = PlayedHost()
    one = scanner(host)
    await one.scan(FILES, list(IDS))
    for lost in ({}, {f"/var/cache/temper/{DIGEST}.xml": b"all pass"}):
        host.files = dict(lost)
        assert {verdict.word for verdict in await one.scan(FILES, list(IDS))} == {"pass", "fail", "unknown"}
        assert host.files == {f"/var/cache/temper/{DIGEST}.xml": SMALL.read_bytes()}


@pytest.mark.parametrize(
    ("host", "says"),
    [
        (PlayedHost(oscap=OscapResult(127, b"", b"")), "not installed"),
        (PlayedHost(oscap=OscapResult(None, b"", b"")), "longer than"),
        (PlayedHost(result=b""), "left no result"),
        (PlayedHost(result=b"\x1f\x8bpass"), "damaged"),
        (PlayedHost(result=gzip.compress(ARF.read_bytes())[:-900]), "cut off"),
        (PlayedHost(result=gzip.compress(bytes(97 << 20), 1)), "more than 96 MiB"),
        (PlayedHost(result=gzip.compress(b"<html>pass</html>")), "no TestResult"),
    ],
    ids=["absent", "late", "empty", "damaged", "cut", "bomb", "foreign"],
)
async def test_a_scan_that_fails_is_an_error_for_every_rule_and_never_a_pass(host, says, caplog):
    with caplog.at_level(logging.CRITICAL):
        verdicts = await scanner(host).scan(FILES, list(IDS))
    assert {one.word for one in verdicts} == {"error"}
    assert all(says in one.evidence for one in verdicts)
    assert set(host.files) <= {f"/var/cache/temper/{DIGEST}.xml"}


async def test_a_rehearsal_is_not_judged_and_no_host_is_asked():
    host = PlayedHost()
    assert [one.word for one in await scanner(host).scan_rehearsal(FILES, list(IDS))] == ["unknown"] * 3
    assert host.ran == []


async def test_a_tailoring_lies_beside_the_content_and_is_named_to_openscap():
    host = PlayedHost()
    by = b"<Tailoring/>"
    await OpenScapScanner(host, ScapContent(SMALL, f"{PROFILE}base", by), IDS, "/c").scan(FILES, list(IDS))
    path = f"/c/{hashlib.sha256(by).hexdigest()}.xml"
    assert host.files[path] == by
    (asked,) = host.asked
    assert asked[asked.index("--tailoring-file") + 1] == path


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
