"""What a disposable Debian was seen to do, as answers to what its rules ask for."""

import pytest

from app.cli.debian_demo import RULES
from app.scores.debian_second_check import QUESTIONS, copy_with_effects, find_whether_in_effect, parse_observations
from app.scores.score_structures import TrialOutcome

KERNEL = ("kernel.randomize_va_space", "net.ipv4.tcp_syncookies", "net.ipv4.icmp_ignore_bogus_error_responses")
AS_IT_CAME = {
    "second": "0",
    "third": "0",
    "again": "0",
    "short": "0",
    "digest": "$y$j9T",
    "group": "$6",
    "home": "755",
    "idle": "",
    "exported": "0",
    "changed": "0",
    "root": "without-password",
    "mode": "644 root root",
    **{f"now {key}": "2" if key == KERNEL[0] else "1" for key in KERNEL},
    **{f"boot {key}": "" for key in KERNEL},
    "pwquality": "",
}
"""By a Debian 12 as it is built."""
HARDENED = AS_IT_CAME | {
    "again": "10",
    "short": "10",
    "digest": "$y$jFT",
    "group": "$y",
    "home": "700",
    "idle": "600",
    "exported": "1",
    "changed": "",
    "root": "no",
    "mode": "600 root root",
    **{f"boot {key}": "2" if key == KERNEL[0] else "1" for key in KERNEL},
    "pwquality": "installed",
}


def test_every_rule_of_the_demo_has_a_question():
    assert QUESTIONS.keys() == set(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_each_is_met_where_the_machine_does_it_and_not_before(rule):
    assert find_whether_in_effect(rule, HARDENED) is True
    assert find_whether_in_effect(rule, AS_IT_CAME) is False


@pytest.mark.parametrize(
    ("rule", "seen"),
    [
        ("accounts_tmout", {"changed": "0"}),  # who is logged in puts it off
        ("accounts_tmout", {"exported": "0"}),
        ("accounts_password_pam_unix_remember", {"second": "10"}),  # nobody can change a password any more
        ("accounts_password_pam_minlen", {"third": "124"}),
        ("accounts_password_pam_minlen", {"short": "124"}),  # it took too long: no answer
        ("file_permissions_sshd_config", {"mode": "600 deed root"}),
        ("sysctl_net_ipv4_tcp_syncookies", {"boot net.ipv4.tcp_syncookies": "0"}),  # until the next boot alone
    ],
)
def test_what_only_looks_like_it_is_not_met(rule, seen):
    assert find_whether_in_effect(rule, HARDENED | seen) is False


def test_where_nobody_knows_nothing_is_said():
    assert find_whether_in_effect("a_rule_of_the_whole_profile", HARDENED) is None
    assert find_whether_in_effect("accounts_tmout", None) is None


def test_what_was_told_is_read_and_goes_to_its_rule():
    seen = parse_observations("root\tno\nmode\t644 root root\nnoise\n")
    fates = (TrialOutcome(rule="sshd_disable_root_login", opening="fail", closing="pass"),)
    assert seen == {"root": "no", "mode": "644 root root"}
    assert [fate.met for fate in copy_with_effects(fates, seen)] == [True]
