"""Which keys and values a rule suggests for each kind of file, and which words of a line it could take away."""

import pytest

from app.loop.file_edit_choices_for_roles import (
    SetChoice,
    WordChoice,
    list_droppable_words,
    list_option_keys,
    list_set_choices,
    remove_word,
)
from app.loop.rule_terms import RuleTerms
from app.loop.shown_file import ShownFile

SSHD, LIMITS, SHELL = "/etc/ssh/sshd_config", "/etc/security/limits.conf", "/etc/profile.d/tmout.sh"
DEFS, QUALITY = "/etc/login.defs", "/etc/security/pwquality.conf"


@pytest.mark.parametrize(
    ("path", "text", "said", "keys"),
    [
        (SSHD, "", "PermitRootLogin has to be no, and Never is no keyword.", ("PermitRootLogin",)),
        (SSHD, "permitrootlogin yes\n", "PermitRootLogin has to be no.", ("permitrootlogin",)),
        (SSHD, "# PermitRootLogin yes\n", "PermitRootLogin has to be no.", ("PermitRootLogin",)),
        (LIMITS, "", "Write `hard maxlogins 10` there.", ("hard", "hard maxlogins")),
        (LIMITS, "", "Write `hard` there.", ("hard",)),
        (SHELL, "", "Set TMOUT=600, not umask.", ("TMOUT",)),
        (QUALITY, "", "minlen has to be 15, and unheard is no option.", ("minlen",)),
        ("/etc/pam.d/x", "a b\n", "Set a to b.", ()),
    ],
)
def test_a_key_is_one_that_the_rule_names_and_the_files_program_knows(path, text, said, keys):
    assert list_option_keys(path, text, RuleTerms((said,))) == keys


def test_all_keys_of_a_file_begin_with_those_of_the_rule_in_its_spelling():
    text, named = "minlen = 8\n# dcredit = 0\nretry=3\n", RuleTerms(("Retry is fine, minlen has to be 15.",))
    assert list_option_keys(QUALITY, text, named, all_of_them=True) == ("Retry", "minlen", "retry", "dcredit")


@pytest.mark.parametrize(
    ("path", "text", "said", "values"),
    [
        (QUALITY, "minlen = 8\n", "minlen has to be 15, not ALL.", ("15",)),
        (QUALITY, "minlen = 8\n", "minlen has to be 8.", ()),
        (QUALITY, "", "minlen has to be 15 or ALL.", ("15",)),
        (QUALITY, "# minlen = x\n", "minlen has to be 15.", ("15",)),
        (LIMITS, "", "Write `hard maxlogins 10` there.", ("10",)),
        (SHELL, "TMOUT=300\n", "Set TMOUT=600.", ("600",)),
        (SSHD, "", "PermitRootLogin has to be no.", ("no",)),
        (DEFS, "PASS_MAX_DAYS 99999\n", "PASS_MAX_DAYS is to be 60.", ("60",)),
    ],
)
def test_values_are_those_of_the_rule_that_would_change_the_file(path, text, said, values):
    found = list_set_choices(path, text, RuleTerms((said,)))
    assert [one.values for one in found][-1:] == [values] * bool(values)
    assert all(one.values for one in found), "a key without a value is no choice"


def test_without_a_word_of_the_rule_every_choice_that_the_daemon_knows_is_open():
    (choice,) = list_set_choices(SSHD, "", RuleTerms(("PermitRootLogin has to be set.",)))
    assert choice.key == "PermitRootLogin"
    assert {"yes", "no", "prohibit-password"} <= set(choice.values)


def test_at_most_twelve_values_are_offered():
    said = " ".join(f"{number}" for number in range(20, 60))
    assert len(list_set_choices(QUALITY, "", RuleTerms((f"minlen is one of {said}.",)))[0].values) <= 12


LINES = {
    1: "# nullok alone",
    2: "auth sufficient pam_unix.so nullok, try_first_pass",
    3: "nullok auth",
    4: "auth abc nullok nullok",
}


def test_words_that_may_go_are_the_rules_own_long_enough_and_not_a_lines_first():
    named = RuleTerms(("No line may carry nullok, abc or try_first_pass:",))
    found = list_droppable_words(ShownFile("/etc/pam.d/x", "", LINES, LINES), named)
    assert found == (WordChoice(2, ("nullok,", "try_first_pass")), WordChoice(4, ("nullok",)))


@pytest.mark.parametrize(
    ("line", "word", "left"),
    [
        ("a b c", "b", "a c"),
        ("a  b\tc", "b", "a\tc"),
        ("a b", "b", "a"),
        ("b a", "b", "a"),
        ("ab b", "b", "ab"),
        ("a b.c", "b.c", "a"),
        ("a bxc", "b.c", "a bxc"),
        ("a b b", "b", "a"),
        ("a c", "b", "a c"),
    ],
)
def test_a_word_is_taken_off_a_line_with_the_space_before_it(line, word, left):
    assert remove_word(line, word) == left


def test_a_choice_names_its_file():
    (choice,) = list_set_choices(SHELL, "", RuleTerms(("Set TMOUT=600.",)))
    assert choice == SetChoice("TMOUT", ("600",))
