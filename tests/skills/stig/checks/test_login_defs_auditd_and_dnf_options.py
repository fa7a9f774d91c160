import pytest

from app.skills.stig.pack import STIG
from tests.hostfiles import DictFiles

PATHS = {
    "V-258041": "/etc/login.defs",
    "V-258074": "/etc/login.defs",
    "V-258154": "/etc/audit/auditd.conf",
    "V-257820": "/etc/dnf/dnf.conf",
}


def judge(rule, text):
    return STIG.rules[rule].check(DictFiles({PATHS[rule]: text}))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258041", "PASS_MAX_DAYS 60\n"),
        ("V-258041", "PASS_MAX_DAYS\t\t1\r\n"),
        ("V-258041", 'PASS_MAX_DAYS "60"'),
        ("V-258041", "#PASS_MAX_DAYS 99999\nPASS_MAX_DAYS 99999\nPASS_MAX_DAYS 60\n"),
        ("V-258074", "UMASK 077\n"),
        ("V-258074", "UMASK\t0077  \nUMASK 077\n"),
        ("V-258154", "disk_full_action = HALT\n"),
        ("V-258154", "DISK_FULL_ACTION  =  halt  \n"),
        ("V-258154", "disk_full_action = SYSLOG\n"),
        ("V-258154", "disk_full_action = SUSPEND\ndisk_full_action = SINGLE\r\n"),
        ("V-257820", "[main]\ngpgcheck=1\n"),
        ("V-257820", "[main]\r\ngpgcheck = True \r\n"),
        ("V-257820", "[main]\ngpgcheck=0\n[x]\ngpgcheck=0\n[main]\ngpgcheck=yes"),
    ],
)
def test_a_host_that_meets_the_rule_passes(rule, text):
    verdict = judge(rule, text)
    assert (verdict.rule, verdict.word, verdict.path) == (rule, "pass", PATHS[rule]), verdict.evidence
    assert f"line {verdict.line}" in verdict.evidence


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("V-258041", ""),
        ("V-258041", "# PASS_MAX_DAYS 60\n"),
        ("V-258041", "PASS_MAX_DAYS 61\n"),
        ("V-258041", "PASS_MAX_DAYS 0\n"),
        ("V-258041", "PASS_MAX_DAYS -1\n"),
        ("V-258041", "PASS_MAX_DAYS 60 # days\n"),
        ("V-258041", "PASS_MAX_DAYS=60\n"),
        ("V-258041", "PASS_MAX_DAYS\u00a060\n"),
        ("V-258041", "PASS_MAX_DAYS \u0666\u0660\n"),
        ("V-258041", "PASS_MAX_DAY\u0405 60\n"),
        ("V-258041", "pass_max_days 60\n"),
        ("V-258041", "PASS_MAX_DAYS 60\nPASS_MAX_DAYS 99999\n"),
        ("V-258074", "#UMASK 077\n"),
        ("V-258074", "UMASK 022\nUMASK 077\n"),
        ("V-258074", "UMASK 077\nUMASK 022\n"),
        ("V-258074", "umask 022\nUMASK 077\n"),
        ("V-258074", "umask 077\n"),
        ("V-258074", "UMASK 77\n"),
        ("V-258074", "UMASK 0770\n"),
        ("V-258074", "UMASK 077 # private\n"),
        ("V-258154", "# disk_full_action = HALT\n"),
        ("V-258154", "disk_full_action = HALT\ndisk_full_action = SUSPEND\n"),
        ("V-258154", "disk_full_action = EMAIL\n"),
        ("V-258154", "disk_full_action = HALT SUSPEND\n"),
        ("V-258154", "disk_full_action = UNHALT\n"),
        ("V-258154", "disk_full_action = HAL\u0422\n"),
        ("V-258154", "disk_error_action = HALT\n"),
        ("V-257820", "gpgcheck=1\n"),
        ("V-257820", "[m\u0430in]\ngpgcheck=1\n"),
        ("V-257820", "[main]\n#gpgcheck=1\n"),
        ("V-257820", "[main]\n;gpgcheck=1\n"),
        ("V-257820", "[main]\ngpgcheck=1\ngpgcheck=0\n"),
        ("V-257820", "[main]\ngpgcheck=0\n gpgcheck=1\n"),
        ("V-257820", "[main]\nbest=1\n gpgcheck=1\n"),
        ("V-257820", "[main]\nrepo_gpgcheck=1\n"),
        ("V-257820", "[main]\ngpgcheck=10\n"),
        ("V-257820", "[updates]\ngpgcheck=1\n"),
        ("V-257820", "[main]\ngpgcheck\u00a0=1\n"),
    ],
)
def test_a_host_that_does_not_fails(rule, text):
    verdict = judge(rule, text)
    assert verdict.word == "fail", verdict.evidence
    verdict.evidence.encode("ascii")


@pytest.mark.parametrize(
    "text",
    ["disk_full_action=HALT\n", "disk_full_action HALT\n", "disk_full_action\t=\tHALT\n", "disk_full_action =\n"],
)
def test_a_line_that_auditd_rejects_cannot_be_judged(text):
    assert judge("V-258154", text).word == "error"


@pytest.mark.parametrize("rule", PATHS)
def test_an_absent_file_fails(rule):
    verdict = STIG.rules[rule].check(DictFiles({}))
    assert (verdict.word, verdict.path) == ("fail", PATHS[rule])


def test_a_line_without_effect_is_named():
    assert "line 1 has no effect" in judge("V-258041", "PASS_MAX_DAYS 60\nPASS_MAX_DAYS 99999\n").evidence
