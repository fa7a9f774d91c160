import pytest

from app.syntax.host_files_protocol import FileState
from tests.skills.stig.checks.judged import judge

TMOUT = "/etc/profile.d/tmout.sh"
LIMITS = "/etc/security/limits.conf"
DROP = "/etc/security/limits.d/20-site.conf"


@pytest.mark.parametrize(
    "files",
    [
        {TMOUT: "TMOUT=600\n"},
        {TMOUT: "declare -xr TMOUT=600"},
        {TMOUT: "# TMOUT=900\nreadonly TMOUT='60'\nexport TMOUT\n"},
        {"/etc/profile.d/pass.sh": "TMOUT=1\n"},
        {TMOUT: "TMOUT=600\n", "/etc/profile": "TMOUT=300\n"},
        {TMOUT: "TMOUT=600\n", "/etc/profile.d/old.sh.bak": "TMOUT=9999\n"},
        {TMOUT: "TMOUT=600\n", "/etc/profile.d/z.csh": "TMOUT=9999\n"},
    ],
)
def test_a_timeout_passes(files):
    verdict = judge("V-258068", files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# TMOUT=600\n",
        "TMOUT=601\n",
        "TMOUT=0\n",
        "TMOUT=\n",
        "tmout=600\n",
        "TMOUT =600\n",
        "TMOUT=600\r\n",
        "TMOUT=\u0666\u0660\u0660\n",
        "TM\u039fUT=600\n",
        "echo 'TMOUT=600'\n",
        "export TMOUT\n",
        "TMOUT=600\nTMOUT=900\n",
        "TMOUT=900\nTMOUT=600\n",
        "TMOUT=600\nunset TMOUT\n",
        "TMOUT=600\n[ -t 0 ] || TMOUT=0\n",
        "[ -t 0 ] && TMOUT=600\n",
        "if false; then\nTMOUT=600\nfi\n",
        "cat <<E\nTMOUT=600\nE\n",
        "TMOUT=${TMOUT:-600}\n",
        "TMOUT=600 true\n",
    ],
)
def test_a_timeout_that_may_not_hold_fails(text):
    assert judge("V-258068", {TMOUT: text}).word == "fail"


@pytest.mark.parametrize("path", ["/etc/profile", "/etc/bashrc", "/etc/profile.d/zz.sh", "/etc/profile.d/aa.sh"])
def test_no_other_script_may_undo_it(path):
    verdict = judge("V-258068", {TMOUT: "TMOUT=600\n", path: "A=1\nTMOUT=7200\n"})
    assert (verdict.word, verdict.path, verdict.line) == ("fail", path, 2)


@pytest.mark.parametrize("text", ["readonly TMOUT\n", "export TMOUT; readonly TMOUT\n", "declare -r TMOUT\n"])
def test_an_earlier_script_may_not_fix_it_unset(text):
    """bash: `TMOUT: readonly variable`, and no timeout at all."""
    assert judge("V-258068", {"/etc/profile.d/aa.sh": text, TMOUT: "TMOUT=600\n"}).word == "fail"
    assert judge("V-258068", {"/etc/profile.d/zz.sh": text, TMOUT: "TMOUT=600\n"}).word == "pass"


def test_the_scripts_of_profile_d_have_to_set_it():
    verdict = judge("V-258068", {"/etc/profile": "TMOUT=600\n"})
    assert verdict.word == "fail"
    assert "/etc/profile line 1" in verdict.evidence


@pytest.mark.parametrize(
    "files",
    [
        {LIMITS: "* hard maxlogins 10\n"},
        {LIMITS: "*\t-\tmaxlogins\t5 # five\r\n"},
        {LIMITS: "* soft maxlogins 99\n* hard maxlogins 10\n"},
        {DROP: "* hard maxlogins 1"},
        {LIMITS: "* hard maxlogins 10\n@dev hard maxlogins 2\n"},
    ],
)
def test_a_limit_on_logins_passes(files):
    verdict = judge("V-258069", files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    "files",
    [
        {},
        {LIMITS: "# * hard maxlogins 10\n"},
        {LIMITS: "* soft maxlogins 10\n"},
        {LIMITS: "* hard maxlogins 11\n"},
        {LIMITS: "* hard maxlogins 0\n"},
        {LIMITS: "* hard maxlogins unlimited\n"},
        {LIMITS: "* hard maxlogins -1\n"},
        {LIMITS: "* hard maxlogins # 10\n"},
        {LIMITS: "* hard maxsyslogins 10\n"},
        {LIMITS: "@dev hard maxlogins 10\n"},
        {LIMITS: "*\u00a0hard maxlogins 10\n"},
        {LIMITS: "\uff0a hard maxlogins 10\n"},
        {LIMITS: "* hard maxlogins 10\n* hard maxlogins 20\n"},
        {LIMITS: "* hard maxlogins 10\nbob - maxlogins 20\n"},
        {LIMITS: "* hard maxlogins 10\n", DROP: "* hard maxlogins 20\n"},
    ],
)
def test_a_limit_that_does_not_hold_for_everybody_fails(files):
    assert judge("V-258069", files).word == "fail"


@pytest.mark.parametrize(
    ("mode", "word"), [(0, "pass"), (0o100000, "pass"), (0o400, "fail"), (0o4000, "fail"), (0o1, "fail")]
)
def test_only_mode_0000_closes_the_hashes(mode, word):
    verdict = judge("V-257934", {"/etc/shadow": FileState(b"mode 0000 pass", mode, "root:root")})
    assert verdict.word == word


def test_an_absent_shadow_fails():
    assert judge("V-257934", {}).word == "fail"
