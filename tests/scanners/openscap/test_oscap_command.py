import pytest

from app.errors import EnvironmentUnusable
from app.scanners.openscap.oscap_command import OscapResult, ScanFailed, build_eval_command, require_result
from tests.scanners.openscap.content import PROFILE, RULE


def test_the_host_itself_ends_it_in_time():
    assert build_eval_command("/c/ds.xml", f"{PROFILE}base", [f"{RULE}a", f"{RULE}b"], "/c/out.xml", 120) == [
        *("timeout", "--kill-after=5", "120", "oscap", "xccdf", "eval", "--profile", f"{PROFILE}base"),
        *("--rule", f"{RULE}a", "--rule", f"{RULE}b", "--results-arf", "/c/out.xml", "/c/ds.xml"),
    ]


@pytest.mark.parametrize("strange", ["--remediate", "a b", "xccdf_x_rule_$(id)", ""])
def test_an_id_that_is_none_reaches_no_host(strange):
    with pytest.raises(ScanFailed, match="nothing was run"):
        build_eval_command("ds.xml", f"{PROFILE}base", [strange], "out.xml", 1)
    with pytest.raises(ScanFailed, match="nothing was run"):
        build_eval_command("ds.xml", strange, [], "out.xml", 1)


@pytest.mark.parametrize("code", [0, 2])
def test_what_holds_and_what_does_not_are_both_results(code):
    require_result(OscapResult(code, b"", b"WARNING: Skipping something"), 1)


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
        require_result(ran, 30)
