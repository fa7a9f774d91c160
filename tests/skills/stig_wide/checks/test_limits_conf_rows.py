"""Rows of limits.conf that hold everybody to a limit."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles

MAIN, DROP_IN = "/etc/security/limits.conf", "/etc/security/limits.d/50-site.conf"
ROW = "* hard core 0\n"


def judge(files):
    return STIG_WIDE.rules["V-257814"].check(DictFiles(files))


@pytest.mark.parametrize(
    "files",
    [{MAIN: ROW}, {DROP_IN: "*\t-\tcore\t0 # agreed\n"}, {MAIN: ROW, DROP_IN: "@dev soft core 0\nbob - nofile 5\n"}],
)
def test_a_limit_for_everybody_passes(files):
    verdict = judge(files)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("files", "evidence"),
    [
        ({}, "No row `* hard core 0` stands in limits.conf or limits.d."),
        ({MAIN: f"#{ROW}"}, "No row"),
        ({MAIN: "* soft core 0\n"}, "No row"),
        ({MAIN: "@dev hard core 0\n"}, "No row"),
        ({MAIN: "* hard core unlimited\n"}, "line 1 sets core to 'unlimited' for everybody; 0 is wanted."),
        ({MAIN: ROW, DROP_IN: "bob - core 1\n"}, f"{DROP_IN} line 1 sets core to '1' for 'bob'"),
        ({MAIN: ROW, DROP_IN: "* soft core 1\n"}, f"{DROP_IN} line 1"),
    ],
)
def test_a_limit_that_is_missing_or_wider_for_somebody_fails(files, evidence):
    verdict = judge(files)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence
