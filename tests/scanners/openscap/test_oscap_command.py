import gzip
import subprocess
from pathlib import Path

import pytest

from app.errors import EnvironmentUnusable
from app.scanners.openscap.oscap_command import (
    OscapResult,
    ScanFailed,
    ScanInput,
    build_input_sent_with_scan,
    build_scan_command,
    extract_report,
    parse_judged_rule,
)
from tests.scanners.openscap.content import ARF, PROFILE, RULE

WHOLE = ScanInput("/c/ds.xml", "", "0  /c/ds.xml")
BASE = f"{PROFILE}base"


def answer(report=ARF.read_bytes(), code=2, packed=None):  # noqa: B008
    """What the host prints: lines of oscap, and a report."""
    packed = gzip.compress(report) if packed is None else packed
    return OscapResult(code, b"xccdf_a_rule_b:pass\n\ntemper: report\n" + packed, b"WARNING: Skipping something")


def test_the_host_itself_ends_it_in_time():
    command = build_scan_command("/c", WHOLE, BASE, [f"{RULE}a", f"{RULE}b"], 120)
    assert command[command.index("timeout") :] == [
        *("timeout", "--kill-after=5", "120", "oscap", "xccdf", "eval", "--progress", "--profile", BASE),
        *("--rule", f"{RULE}a", "--rule", f"{RULE}b", "--results-arf", "result.xml", "/c/ds.xml"),
    ]


def test_an_excerpt_is_not_validated_again_and_has_no_rules_but_those_wanted():
    command = build_scan_command("/c", build_input_sent_with_scan(b"<ds/>", b"<t/>"), BASE, [f"{RULE}a"], 9)
    assert command[command.index("oscap") :] == [
        *("oscap", "xccdf", "eval", "--progress", "--skip-valid", "--tailoring-file", "tailoring.xml"),
        *("--profile", BASE, "--results-arf", "result.xml", "datastream.xml"),
    ]


@pytest.mark.parametrize("tailoring", [b"", b"<Tailoring/>"])
def test_what_is_sent_lies_there_while_the_command_runs_and_not_after(tmp_path, tailoring):
    sent = build_input_sent_with_scan(b"<ds/>", tailoring)
    command = build_scan_command(str(tmp_path), sent, BASE, [], 9)
    show = [*command[: command.index("timeout")], "sh", "-c", "cat datastream.xml tailoring.xml"]
    ran = subprocess.run(show, input=sent.sent, capture_output=True, check=False)
    assert ran.stdout.startswith(b"<ds/>" + tailoring)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("cut", [lambda sent: sent[:-9], lambda _: build_input_sent_with_scan(b"<as/>", b"").sent])
def test_nothing_runs_on_what_is_not_what_was_sent(tmp_path, cut):
    sent = build_input_sent_with_scan(b"<ds/>", b"")
    command = build_scan_command(str(tmp_path), sent, BASE, [], 9)
    ran = subprocess.run(
        [*command[: command.index("timeout")], "echo", "ran"], input=cut(sent.sent), capture_output=True, check=False
    )
    assert b"ran" not in ran.stdout
    with pytest.raises(ScanFailed, match="did not reach the host whole"):
        extract_report(OscapResult(ran.returncode, ran.stdout, ran.stderr), 9)


FAILS = """#!/bin/sh
[ "$(wc -l <begun)" -gt {times} ] || {{ echo begun >>begun; {fault}; }}
echo report >result.xml
exit 2
"""
HANG, CRASH = "exec sleep 600", "kill -SEGV $$"


def is_about(command_line, folder):
    try:
        return bytes(folder) in command_line.read_bytes()
    except OSError:  # it ended
        return False


def run_program(tmp_path, program, seconds=4):
    """Run a program in the place of oscap."""
    (tmp_path / "bin").mkdir()
    (oscap := tmp_path / "bin" / "oscap").write_text(program.replace("begun", str(tmp_path / "begun"), 9))
    oscap.chmod(0o700)
    (tmp_path / "begun").touch()
    sent = build_input_sent_with_scan(b"<ds/>", b"")
    command = build_scan_command(str(tmp_path / "scans"), sent, BASE, [], seconds)
    path = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin"}
    ran = subprocess.run(command, input=sent.sent, capture_output=True, env=path, check=False)
    assert list((tmp_path / "scans").iterdir()) == []
    assert not [one for one in Path("/proc").glob("[0-9]*/cmdline") if is_about(one, tmp_path)]
    return OscapResult(ran.returncode, ran.stdout, ran.stderr), len((tmp_path / "begun").read_text().split())


@pytest.mark.parametrize("fault", [HANG, CRASH])
def test_a_scan_that_hangs_or_crashes_is_begun_again(tmp_path, fault):
    ran, failed = run_program(tmp_path, FAILS.format(times=0, fault=fault))
    assert (ran.code, extract_report(ran, 4), failed) == (2, b"report\n", 1)


@pytest.mark.parametrize(("fault", "says"), [(HANG, "hung three times"), (CRASH, r"crashed three times \(exit 139\)")])
def test_a_scan_that_never_ends_well_is_given_up_with_a_sentence(tmp_path, fault, says):
    ran, failed = run_program(tmp_path, FAILS.format(times=9, fault=fault))
    assert failed == 3
    with pytest.raises(ScanFailed, match=f"OpenSCAP {says}"):
        extract_report(ran, 4)


def test_a_scan_that_waits_for_a_program_that_it_started_does_not_hang(tmp_path):
    ran, begun = run_program(tmp_path, "#!/bin/sh\necho 1 >>begun\nsleep 3\necho report >result.xml\n")
    assert (ran.code, begun) == (0, 1)


def test_a_line_of_progress_names_a_rule():
    lines = (f"{RULE}a:pass", "Title:x", "", f"{RULE}a", "--- Starting Evaluation ---")
    assert [parse_judged_rule(line) for line in lines] == [f"{RULE}a", "", "", "", ""]


@pytest.mark.parametrize("strange", ["--remediate", "a b", "xccdf_x_rule_$(id)", ""])
def test_an_id_that_is_none_reaches_no_host(strange):
    with pytest.raises(ScanFailed, match="nothing was run"):
        build_scan_command("/c", WHOLE, BASE, [strange], 1)
    with pytest.raises(ScanFailed, match="nothing was run"):
        build_scan_command("/c", WHOLE, strange, [], 1)


@pytest.mark.parametrize("code", [0, 2])
def test_what_holds_and_what_does_not_are_both_results(code):
    assert extract_report(answer(code=code), 1) == ARF.read_bytes()


@pytest.mark.parametrize(
    ("packed", "says"),
    [
        (b"", "left no result"),
        (b"\x1f\x8bpass", "damaged"),
        (gzip.compress(ARF.read_bytes())[:-900], "cut off"),
        (gzip.compress(bytes(97 << 20), 1), "more than 96 MiB"),
    ],
    ids=["empty", "damaged", "cut", "bomb"],
)
def test_a_report_that_is_not_whole_is_no_report(packed, says):
    with pytest.raises(ScanFailed, match=says):
        extract_report(answer(packed=packed), 1)


@pytest.mark.parametrize(
    ("ran", "error", "says"),
    [
        (OscapResult(None, b"", b""), ScanFailed, "longer than 30 s"),
        (OscapResult(124, b"", b""), ScanFailed, "longer than 30 s"),
        (
            OscapResult(127, b"", b"timeout: failed to run command 'oscap': No such file or directory"),
            EnvironmentUnusable,
            "apt-get install",
        ),
        (
            OscapResult(
                1,
                b"",
                b"WARNING: x\nOpenSCAP Error: Rule 'a' not found in selected profile. [./src/XCCDF_POLICY/p.c:2148]",
            ),
            ScanFailed,
            r"exit 1\): OpenSCAP Error: Rule 'a' not found in selected profile\.$",
        ),
        (OscapResult(1, b"all pass", b""), ScanFailed, "gave no reason"),
        (OscapResult(1, b"", b"OpenSCAP Error: write error"), ScanFailed, "disk is full or read-only"),
        (
            OscapResult(1, b"", b"OpenSCAP Error: Unable to open file: 'x': No such file or directory"),
            ScanFailed,
            "judged nothing",
        ),
        (OscapResult(-11, b"", b""), ScanFailed, "exit -11"),
    ],
)
def test_anything_else_is_said(ran, error, says):
    with pytest.raises(error, match=says):
        extract_report(ran, 30)
