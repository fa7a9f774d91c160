"""sshd's options, where a line without effect counts, too."""

import pytest

from app.skills.stig_wide.pack import STIG_WIDE
from tests.hostfiles import DictFiles

MAIN, DROP_IN = "/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/50-site.conf"
INCLUDE = "Include /etc/ssh/sshd_config.d/*.conf\n"


def judge(main, drop_in="", rule="V-257982"):
    return STIG_WIDE.rules[rule].check(DictFiles({MAIN: main, DROP_IN: drop_in}))


@pytest.mark.parametrize(
    ("main", "drop_in"),
    [
        ("LogLevel VERBOSE\n", ""),
        (INCLUDE, 'loglevel "VERBOSE" # as agreed\n'),
        (f"{INCLUDE}LogLevel VERBOSE\n", "LogLevel=VERBOSE\n"),
        # without Include, nobody reads the drop-in
        ("LogLevel VERBOSE\n", "LogLevel INFO\n"),
        ("LogLevel VERBOSE\nMatch User bob\nLogLevel VERBOSE\n", ""),
    ],
)
def test_the_option_in_force_passes(main, drop_in):
    verdict = judge(main, drop_in)
    assert verdict.word == "pass", verdict.evidence


@pytest.mark.parametrize(
    ("main", "drop_in", "evidence"),
    [
        ("", "", "LogLevel is not stated for everybody"),
        ("", "LogLevel VERBOSE\n", "LogLevel is not stated for everybody"),
        ("LogLevel INFO\n", "", "line 1 sets LogLevel to 'INFO'; VERBOSE is wanted."),
        ("LogLevel verbose\n", "", "'verbose'; VERBOSE is wanted."),
        (f"{INCLUDE}LogLevel VERBOSE\n", "LogLevel INFO\n", "has no effect"),
        ("Match User bob\nLogLevel VERBOSE\n", "", "inside the block Match User bob alone"),
        ("LogLevel VERBOSE\nMatch User bob\nLogLevel INFO\n", "", "for Match User bob"),
        ("LogLevel VERBOSE\nLogLevel INFO\n", "", f"But {MAIN} line 2 sets it to 'INFO', which has no effect until"),
    ],
)
def test_a_missing_or_contradicted_option_fails(main, drop_in, evidence):
    verdict = judge(main, drop_in)
    assert verdict.word == "fail"
    assert evidence in verdict.evidence


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("1G 1h", "pass"),
        ("512m 3600", "pass"),
        ("1G 1h30m", "pass"),
        ('"1G" 1h', "pass"),
        # sshd takes it for one word
        ('"1G 1h"', "fail"),
        ("1G", "fail"),
        ("1G none", "fail"),
        ("default none", "fail"),
        ("0 1h", "fail"),
        ("1G 0", "fail"),
    ],
)
def test_keys_are_exchanged_by_data_and_by_time(value, word):
    assert judge(f"RekeyLimit {value}\n", rule="V-257994").word == word
