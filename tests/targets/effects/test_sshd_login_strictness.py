"""What a login has to prove, from the settings that decide it together."""

import pytest

from app.events.event_field_types import SetOption, WriteFile
from app.loop.state import Item
from app.loop.turn_context import build_rule_scope
from app.skills.stig.pack import STIG
from app.targets.effects.sshd_login_strictness import compare_logins, derive_login_requirements
from app.targets.effects.strictness_comparison import Strength
from app.targets.policy import list_action_refusals
from tests.targets.effects.test_sshd import DROP, MAIN, files

DEFAULTS = {
    "pubkeyauthentication": "yes",
    "passwordauthentication": "yes",
    "kbdinteractiveauthentication": "yes",
    "usepam": "no",
    "permitrootlogin": "without-password",
    "authenticationmethods": "any",
}
UNSHARED = {"passwordauthentication": "no"}


def ways(user="bob", **settings):
    return [*derive_login_requirements({**DEFAULTS, **settings}, user).values()]


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({}, "a key or a password"),
        (UNSHARED, "a key"),
        ({**UNSHARED, "usepam": "yes"}, "a key or a password"),
        ({**UNSHARED, "usepam": "yes", "kbdinteractiveauthentication": "no"}, "a key"),
        ({"authenticationmethods": "publickey,password"}, "a key and a password"),
        ({"authenticationmethods": "publickey,keyboard-interactive:pam"}, "nothing helps"),
        ({"authenticationmethods": "publickey,keyboard-interactive:pam", "usepam": "yes"}, "a key and a password"),
        ({"authenticationmethods": "publickey,publickey password"}, "a key and a key once more or a password"),
        ({**UNSHARED, "pubkeyauthentication": "no", "gssapiauthentication": "yes"}, "a ticket"),
        ({**UNSHARED, "hostbasedauthentication": "yes"}, "a key or the client's host"),
    ],
)
def test_who_is_asked_for_what(settings, wanted):
    assert ways(**settings) == [wanted]


@pytest.mark.parametrize(
    ("permit", "wanted"),
    [
        ("yes", "a key or a password"),
        ("without-password", "a key"),
        ("forced-commands-only", "a key"),
        ("no", "nothing helps"),
    ],
)
def test_root_has_a_rule_of_its_own(permit, wanted):
    assert ways("root", permitrootlogin=permit) == [wanted]
    assert ways("", permitrootlogin=permit) == ["a key or a password", wanted]


@pytest.mark.parametrize(
    ("was", "now", "order"),
    [
        ("a key", "a key", Strength.EQUAL),
        ("a key", "a key or a password", Strength.WEAKER),
        ("nothing helps", "a password", Strength.WEAKER),
        ("a key and a password", "a key", Strength.WEAKER),
        ("a key and a key once more", "a key", Strength.WEAKER),
        ("a key or a password", "a key", Strength.STRONGER),
        ("a key or a password", "a key and a password", Strength.STRONGER),
        ("a password", "a key or a password", Strength.STRONGER),
        ("a password", "the client's host", Strength.WEAKER),
        ("a key", "nothing helps", Strength.STRONGER),
    ],
)
def test_a_way_that_asks_for_less_than_every_earlier_one_is_weaker(was, now, order):
    assert compare_logins(was, now) is order


PAM = SetOption(path=MAIN, key="UsePAM", value="yes")
RULE = STIG.rules["V-257986"]


@pytest.mark.parametrize(
    ("main", "others", "clauses"),
    [
        ("PasswordAuthentication no\nUsePAM no\n", (), ["weakening"]),
        ("PasswordAuthentication no\nUsePAM no\n", ("KbdInteractiveAuthentication",), []),
        ("PasswordAuthentication no\nUsePAM no\n", ("ChallengeResponseAuthentication",), []),
        ("PasswordAuthentication no\nKbdInteractiveAuthentication no\nUsePAM no\n", (), []),
        ("PasswordAuthentication yes\nUsePAM no\n", (), []),
        ("UsePAM no\nMatch User root\n\tPasswordAuthentication no\n", (), []),  # without-password
        ("UsePAM no\nMatch User bob\n\tPasswordAuthentication no\n", (), ["weakening"]),
        ("UsePAM no\nMatch User bob\n\tPasswordAuthentication no\n\tKbdInteractiveAuthentication no\n", (), []),
    ],
)
def test_pam_may_come_where_nobody_is_newly_asked_for_a_password(main, others, clauses):
    """The rule about PAM names neither keyword, but may need it."""
    actions = [PAM, *(SetOption(path=MAIN, key=key, value="no") for key in others)]
    scope = build_rule_scope(RULE, None, Item(RULE.id))
    found = list_action_refusals(actions, frozenset({MAIN}), files(main), RULE.asks, scope=scope)
    assert [one.clause for one in found] == clauses


def test_it_is_said_what_would_be_enough():
    (found,) = list_action_refusals(
        [PAM], frozenset({MAIN}), files("PasswordAuthentication no\nUsePAM no\n"), RULE.asks
    )
    assert "what a login has to prove is a key and would be a key or a password, which is weaker" in found.reason


def test_one_answer_in_a_drop_in_ahead_of_all_others_is_read_as_a_whole():
    path = f"{DROP}/00-temper.conf"
    main = f"Include {DROP}/*.conf\nPasswordAuthentication no\nUsePAM no\n"

    def review(content):
        action = WriteFile(path=path, content=content, mode="0600")
        return [one.clause for one in list_action_refusals([action], frozenset({path}), files(main))]

    assert review("UsePAM yes\nKbdInteractiveAuthentication no\n") == []
    assert review("UsePAM yes\nKbdInteractiveAuthentication yes\n") != []
    assert review("UsePAM yes\n") == ["weakening"]
