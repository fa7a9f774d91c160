"""What a rule leaves to a person, by its name in one content or its title in another."""

import pytest

from app.candidates.rule_questions_left_to_people import find_person_decision


@pytest.mark.parametrize(
    ("rule", "title", "question"),
    [
        ("partition_for_home", "", "needs a partition"),
        ("V-1", "A separate file system must be used for /home.", "needs a partition"),
        ("grub2_password", "", "needs a secret"),
        ("V-1", "The host must require a boot loader superuser password.", "needs a secret"),
        ("V-1", "RHEL 9 systems using DNS must have at least two name servers.", "needs the site's name servers"),
        ("V-1", "RHEL 9 system accounts must not have an interactive login shell.", "needs a decision about accounts"),
        ("V-1", "The host must require a unique superusers name upon booting.", "needs a secret"),
        ("fapolicy_default_deny", "", "needs a list of allowed programs"),
        ("ensure_logrotate_activated", "", "needs a decision about old logs"),
    ],
)
def test_the_question_is_found_by_name_or_by_title(rule, title, question):
    decision = find_person_decision(rule, title)
    assert decision is not None
    assert decision.question == question


def test_a_rule_of_which_nothing_is_known_leaves_no_question():
    assert find_person_decision("V-1", "Passwords must be long, and the boot loader must be up to date.") is None
