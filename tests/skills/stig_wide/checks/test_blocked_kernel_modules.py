"""Kernel modules that cannot load, in the spelling that an auditor searches for."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles

OWN, OTHER = "/etc/modprobe.d/usb-storage.conf", "/etc/modprobe.d/aa.conf"
INSTALL, BAN = "install usb-storage /bin/false\n", "blacklist usb-storage\n"


def judge(files):
    return STIG_WIDE.rules["V-258034"].check(DictFiles(files))


@pytest.mark.parametrize(
    "files",
    [
        {OWN: INSTALL + BAN},
        {OWN: BAN, OTHER: "\tinstall  usb-storage\t/bin/false \n"},
        {OWN: INSTALL + BAN, OTHER: "blacklist usb_storage\n"},
        {OWN: "install usb-storage \\\n/bin/false\n" + BAN},
    ],
)
def test_a_banned_module_passes(files):
    verdict = judge(files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({}, "No line `install usb-storage /bin/false` stands in /etc/modprobe.d."),
        ({OWN: INSTALL}, "no line `blacklist usb-storage` stands beside it"),
        ({OWN: BAN}, "No line `install usb-storage /bin/false`"),
        ({OWN: INSTALL + BAN, OTHER: "install usb_storage /sbin/modprobe -i usb_storage\n"}, f"{OTHER} line 1 runs"),
        ({OWN: INSTALL.replace("false", "true") + BAN}, "runs '/bin/true' to load usb-storage; /bin/false is wanted."),
        ({OWN: (INSTALL + BAN).replace("-", "_")}, "No line `install usb-storage /bin/false`"),
        ({OWN: INSTALL + BAN.replace("-", "_")}, "no line `blacklist usb-storage`"),
        ({"/etc/modprobe.d/site.bak": INSTALL + BAN}, "No line `install usb-storage /bin/false`"),
    ],
)
def test_a_module_that_can_load_fails(files, evidence):
    verdict = judge(files)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence
