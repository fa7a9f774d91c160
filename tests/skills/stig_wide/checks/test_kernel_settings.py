"""Kernel settings after both programs have loaded the files."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles
from tests.skills.stig_wide.entry_hosts import BARE

EARLY, LATE, MAIN = "/etc/sysctl.d/20-a.conf", "/etc/sysctl.d/70-b.conf", "/etc/sysctl.conf"
KEY, REDIRECTS = "kernel.dmesg_restrict", "net.ipv4.conf.all.accept_redirects"


def judge(files, rule="V-257797"):
    return STIG_WIDE.rules[rule].check(DictFiles(BARE | files))


@pytest.mark.parametrize(
    "files",
    [
        {LATE: f"{KEY} = 1\n"},
        {LATE: f"-{KEY}=1\n"},
        {LATE: "kernel/dmesg_restrict = 0x1\n"},
        {EARLY: f"{KEY} = 0\n", LATE: f"{KEY} = 1\n"},
        {EARLY: f"{KEY} = 1\n", MAIN: f"{KEY} = 1\n"},
        {"/usr/lib/sysctl.d/50-default.conf": f"{KEY} = 1\n"},
    ],
)
def test_a_setting_that_is_loaded_last_passes(files):
    verdict = judge(files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({}, f"No file of sysctl.d states {KEY}; 1 is wanted."),
        ({LATE: f"#{KEY} = 1\n"}, "No file of sysctl.d states"),
        ({"/etc/sysctl.d/70-b.bak": f"{KEY} = 1\n"}, "No file of sysctl.d states"),
        ({EARLY: f"{KEY} = 1\n", LATE: f"{KEY} = 0\n"}, f"1 is wanted. The last line for it is {LATE} line 1."),
        ({LATE: f"{KEY} = 1\n", MAIN: f"{KEY} = 0\n"}, f"1 is wanted. The last line for it is {MAIN} line 1."),
        ({"/usr/lib/sysctl.d/50-default.conf": f"{KEY} = 0\n"}, f"systemd-sysctl sets {KEY} to '0'; 1 is wanted."),
        # systemd does not read it
        ({MAIN: f"{KEY} = 1\n"}, "No file of sysctl.d states"),
    ],
)
def test_a_setting_that_is_missing_or_changed_later_fails(files, evidence):
    verdict = judge(files)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence


def test_a_setting_that_another_one_changes_fails():
    """Forwarding that is switched on lets the kernel accept no redirects; switched off, it accepts them again."""
    text = f"net.ipv4.conf.all.forwarding = 1\n{REDIRECTS} = 0\nnet.ipv4.ip_forward = 0\n"
    verdict = judge({LATE: text}, "V-257958")
    assert verdict.word == "fail"
    assert f"{LATE} line 2 is right, but another setting that is loaded changes it." in verdict.evidence
    assert judge({LATE: f"{REDIRECTS} = 0\n"}, "V-257958").word == "pass"
