import pytest

from app.syntax.sshd_match import (
    ConnectionSpec,
    matches_conditions,
    matches_single_pattern,
    parse_conditions_with_fault,
)

BOB = ConnectionSpec("bob", frozenset({"bob", "wheel"}), "Relay.Corp.example", "192.168.1.5", "10.0.0.1", "22")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("User bob", (("user", "bob"),)),
        ("user=bob GROUP wheel", (("user", "bob"), ("group", "wheel"))),
        ('User "bob smith" # both', (("user", "bob smith"),)),
        ("all", ()),
        ("ALL # of them", ()),
    ],
)
def test_a_match_line_says_what_it_asks_for(line, expected):
    assert parse_conditions_with_fault(line) == (expected, "")


@pytest.mark.parametrize(
    "line",
    ["", "User", "User bob all", "all User bob", "Exec /bin/x", "LocalPort 99999", "Address 10.0.0.1/8", "User # bob"],
)
def test_a_match_line_that_sshd_refuses_is_told(line):
    assert parse_conditions_with_fault(line)[1].startswith("Match: ")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("all", True),
        ("User bob", True),
        ("User Bob", False),
        ("User *,!root", True),
        ("User !bob,*", False),
        ("User !root", False),
        ("Group wheel", True),
        ("Group *,!wheel", False),
        ("Host *.corp.EXAMPLE", True),
        ("Host [Rr]elay*", False),
        ("Address 192.168.0.0/16", True),
        ("Address 192.168.0.0/16,!192.168.1.0/24", False),
        ("Address 192.168.*", True),
        ("Address 2001:db8::/32", False),
        ("LocalAddress 10.0.0.1", True),
        ("LocalPort 022", True),
        ("LocalPort 2222", False),
        ("RDomain *", False),
        ("User bob LocalPort 23", False),
        ("Version *", False),
    ],
)
def test_a_connection_fits_as_sshd_has_it(line, expected):
    assert matches_conditions(parse_conditions_with_fault(line)[0], BOB) is expected


def test_a_pattern_of_many_stars_is_soon_done():
    assert not matches_single_pattern("*a" * 200 + "b", "a" * 5000)


@pytest.mark.parametrize(
    ("pattern", "name", "expected"),
    [
        ("*", "", True),
        ("", "", True),
        ("", "x", False),
        ("a*b?c", "aXbYbZc", True),
        ("?", "", False),
        ("a\\*", "a*", False),
    ],
)
def test_stars_and_question_marks_are_all_there_is(pattern, name, expected):
    assert matches_single_pattern(pattern, name) is expected
