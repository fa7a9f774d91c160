import pytest

from app.people.passwords import NOBODY, digest, hashed, matches, new_secret
from app.people.rights import (
    CLOSED,
    DEMO,
    RIGHTS,
    WHO,
    Needs,
    Person,
    admits,
    guests,
    may,
    opens,
    said_needs,
    signed,
    viewers,
)

VIC = Person("vic", "viewer", "session", "x")
GUEST = Person("jo", "viewer", "link", "y", ("mine",))


def test_a_name_that_somebody_has_wins_over_the_one_they_say():
    for person, name in ((None, "said"), (DEMO, "said"), (VIC, "vic")):
        WHO.set(person)
        assert signed("said") == name
    WHO.set(None)


def test_what_a_route_says_is_kept_with_it_and_what_says_nothing_is_closed():
    @viewers
    def said():
        return None

    def unsaid():
        return None

    assert said_needs(said) == Needs("viewer")
    assert said_needs(unsaid) is None
    assert CLOSED.right == "admin"


@pytest.mark.parametrize(
    ("needs", "person", "run", "admitted"),
    [
        (Needs(None), None, None, True),
        (Needs("viewer"), None, None, False),
        (Needs("viewer"), VIC, "any", True),
        (Needs("operator"), VIC, None, False),
        (CLOSED, DEMO, None, True),
        (Needs("viewer"), GUEST, "mine", False),
        (Needs("viewer", links=True), GUEST, "mine", True),
        (Needs("viewer", links=True), GUEST, "other", False),
        (Needs("viewer", links=True), GUEST, "", False),
        (Needs("viewer", links=True), GUEST, None, True),
        (Needs("operator", links=True), GUEST, "mine", False),
    ],
)
def test_a_right_reaches_what_is_below_it_and_a_link_the_run_it_names(needs, person, run, admitted):
    assert admits(needs, person, run) == admitted


def test_a_route_that_links_may_open_by_itself_asks_which_runs_they_see():
    assert said_needs(guests(lambda: None)).links
    WHO.set(GUEST)
    assert (opens("mine"), opens("other")) == (True, False)
    WHO.set(VIC)
    assert opens("other")
    WHO.set(None)


def test_a_higher_right_holds_the_lower_ones():
    assert [[may(have, need) for need in RIGHTS] for have in RIGHTS] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_a_password_is_kept_as_a_digest_of_its_own():
    kept = hashed("correct horse battery")
    assert "correct" not in kept
    assert kept != hashed("correct horse battery")
    assert matches("correct horse battery", kept)
    assert not matches("correct horse batterY", kept)
    assert not matches("", NOBODY)


def test_a_secret_is_never_the_same_and_found_by_its_digest():
    one, other = new_secret(), new_secret()
    assert one != other
    assert digest(one) == digest(one) != digest(other)
