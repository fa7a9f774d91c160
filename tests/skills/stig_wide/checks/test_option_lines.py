"""Options of which every line has to be right, file by file."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles

FAILLOCK, AUDITD, DNF = "/etc/security/faillock.conf", "/etc/audit/auditd.conf", "/etc/dnf/dnf.conf"
PWQUALITY, DROP_IN = "/etc/security/pwquality.conf", "/etc/security/pwquality.conf.d/50-site.conf"
SYSTEM, SYSTEM_DROP_IN = "/etc/systemd/system.conf", "/etc/systemd/system.conf.d/50-site.conf"
BURST = "[Manager]\nCtrlAltDelBurstAction=none\n"
LOGIND, USERADD, CHRONY = "/etc/systemd/logind.conf", "/etc/default/useradd", "/etc/chrony.conf"


def check(rule, files):
    return STIG_WIDE.rules[rule].check(DictFiles(files))


@pytest.mark.parametrize(
    ("rule", "files"),
    [
        ("V-258056", {FAILLOCK: "fail_interval=1 # as agreed\n"}),
        ("V-258112", {DROP_IN: "difok = 8\n"}),
        ("V-258112", {DROP_IN: "difok 9\n", PWQUALITY: "  difok\t=\t8\n"}),
        ("V-258110", {PWQUALITY: "dictcheck = -1\n"}),
        ("V-258101", {PWQUALITY: "enforce_for_root\n"}),
        ("V-258156", {AUDITD: "SPACE_LEFT = 99%\n"}),
        ("V-258169", {AUDITD: "log_format = enriched\n"}),
        ("V-258104", {"/etc/login.defs": 'PASS_MIN_DAYS "1"\n'}),
        ("V-257821", {DNF: "[main]\nlocalpkg_gpgcheck = True\n"}),
        ("V-257784", {SYSTEM_DROP_IN: BURST}),
        ("V-258077", {LOGIND: "[Login]\n  StopIdleSessionSec  =  600\n"}),
        ("V-257946", {CHRONY: "\tport \t 0\n"}),
    ],
)
def test_a_stated_option_passes(rule, files):
    verdict = check(rule, files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("rule", "files", "evidence"),
    [
        ("V-258056", {}, "is absent"),
        ("V-258056", {FAILLOCK: "#fail_interval = 900\n"}, "does not state fail_interval; 1 to 900 is wanted."),
        ("V-258056", {FAILLOCK: "fail_interval = 901\n"}, "line 1 sets fail_interval to '901'; 1 to 900 is wanted."),
        ("V-258056", {FAILLOCK: "fail_interval = 0\nfail_interval = 900\n"}, "1 to 900 is wanted in every line."),
        ("V-258056", {FAILLOCK: "fail_interval = 900\nfail_interval = none\n"}, "line 2 sets"),
        ("V-258056", {FAILLOCK: "fail_interval = \u0669\u0660\u0660\n"}, "<U+0669>"),
        ("V-258112", {DROP_IN: "difok = 7\n", PWQUALITY: "difok = 8\n"}, f"{DROP_IN} line 1"),
        ("V-258112", {DROP_IN: "difok = 8\n", PWQUALITY: "DIFOK = 7\n"}, f"{PWQUALITY} line 1"),
        # libpwquality reads it, and an auditor's search does not find it
        ("V-258112", {PWQUALITY: "DIFOK = 8\n"}, "does not state difok"),
        ("V-258112", {"/etc/security/pwquality.conf.d/50-site.bak": "difok = 8\n"}, "is absent"),
        ("V-258156", {AUDITD: "space_left = 100%\n"}, "25 to 99% is wanted"),
        ("V-258156", {AUDITD: "space_left = 25\n"}, "25 to 99% is wanted"),
        ("V-258156", {AUDITD: "space_left = 24%\n"}, "25 to 99% is wanted"),
        ("V-258117", {"/etc/login.defs": "ENCRYPT_METHOD SHA512 # strong\n"}, "SHA512 # strong"),
        ("V-257821", {DNF: "[other]\nlocalpkg_gpgcheck=1\n"}, "does not state localpkg_gpgcheck"),
        (
            "V-257784",
            {SYSTEM_DROP_IN: BURST.replace("none", "reboot-force"), SYSTEM: BURST},
            f"{SYSTEM_DROP_IN} line 2",
        ),
        ("V-258077", {LOGIND: "[Other]\nStopIdleSessionSec=600\n"}, "does not state"),
        # useradd takes no blanks
        ("V-258049", {USERADD: " INACTIVE=35\n"}, "does not state INACTIVE"),
        ("V-258049", {USERADD: "INACTIVE = 35\n"}, "does not state INACTIVE"),
        ("V-258049", {USERADD: "INACTIVE=-1\n"}, "0 to 35 is wanted"),
    ],
)
def test_a_missing_or_contradicted_option_fails(rule, files, evidence):
    verdict = check(rule, files)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence


def test_an_argument_of_the_pam_module_replaces_the_value():
    files = {PWQUALITY: "retry = 3\n", "/etc/pam.d/system-auth": "password requisite pam_pwquality.so retry=5\n"}
    verdict = check("V-258091", files)
    assert verdict.word == "fail"
    assert "pam_pwquality.so gets retry to '5'; 1 to 3 is wanted" in verdict.evidence


def test_a_line_that_auditd_rejects_cannot_be_judged():
    verdict = check("V-258168", {AUDITD: "freq=50\n"})
    assert verdict.word == "error"
    assert check("V-258168", {AUDITD: "log_format=RAW\nfreq = 50\n"}).word == "pass"
