import pytest

from app.errors import BadInput
from app.people.passwords import NOBODY, create_secret, digest_random_secret_unsalted, hash_password, matches_digest
from app.people.rights import (
    CLOSED,
    DEMO,
    RIGHTS,
    WHO,
    AccessNeeds,
    Person,
    can_see_run,
    find_access_needs,
    get_name_to_record,
    guests,
    has_right,
    is_admitted,
    parse_right,
    viewers,
)

VIC = Person("vic", "viewer", "session", "x")
GUEST = Person("jo", "viewer", "link", "y", ("mine",))


def test_a_name_that_somebody_has_wins_over_the_one_they_say():
    for person, name in ((None, "said"), (DEMO, "said"), (VIC, "vic")):
        WHO.set(person)
        assert get_name_to_record("said") == name
    WHO.set(None)


def test_what_a_route_says_is_kept_with_it_and_what_says_nothing_is_closed():
    @viewers
    def said():
        return None

    def unsaid():
        return None

    assert find_access_needs(said) == AccessNeeds("viewer")
    assert find_access_needs(unsaid) is None
    assert CLOSED.right == "admin"


@pytest.mark.parametrize(
    ("needs", "person", "run", "admitted"),
    [
        (AccessNeeds(None), None, None, True),
        (AccessNeeds("viewer"), None, None, False),
        (AccessNeeds("viewer"), VIC, "any", True),
        (AccessNeeds("operator"), VIC, None, False),
        (CLOSED, DEMO, None, True),
        (AccessNeeds("viewer"), GUEST, "mine", False),
        (AccessNeeds("viewer", links=True), GUEST, "mine", True),
        (AccessNeeds("viewer", links=True), GUEST, "other", False),
        (AccessNeeds("viewer", links=True), GUEST, "", False),
        (AccessNeeds("viewer", links=True), GUEST, None, True),
        (AccessNeeds("operator", links=True), GUEST, "mine", False),
    ],
)
def test_a_right_reaches_what_is_below_it_and_a_link_the_run_it_names(needs, person, run, admitted):
    assert is_admitted(needs, person, run) == admitted


def test_a_route_that_links_may_open_by_itself_asks_which_runs_they_see():
    assert find_access_needs(guests(lambda: None)).links
    WHO.set(GUEST)
    assert (can_see_run("mine"), can_see_run("other")) == (True, False)
    WHO.set(VIC)
    assert can_see_run("other")
    WHO.set(None)


def test_a_word_that_is_no_right_is_refused():
    assert parse_right("operator") == "operator"
    with pytest.raises(BadInput, match="'owner' is not a right: choose one of viewer, operator, admin"):
        parse_right("owner")


def test_a_higher_right_holds_the_lower_ones():
    assert [[has_right(have, need) for need in RIGHTS] for have in RIGHTS] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_a_password_is_kept_as_a_digest_of_its_own():
    kept = hash_password("correct horse battery")
    assert "correct" not in kept
    assert kept != hash_password("correct horse battery")
    assert matches_digest("correct horse battery", kept)
    assert not matches_digest("correct horse batterY", kept)
    assert not matches_digest("", NOBODY)


def test_a_secret_is_never_the_same_and_found_by_its_digest():
    one, other = create_secret(), create_secret()
    assert one != other
    assert (
        digest_random_secret_unsalted(one) == digest_random_secret_unsalted(one) != digest_random_secret_unsalted(other)
    )
