import pytest

from app.people.passwords import NOBODY, digest, hashed, matches, new_secret
from app.people.rights import RIGHTS, may, needed


@pytest.mark.parametrize(
    ("method", "path", "right"),
    [
        ("GET", "/static/temper.css", None),
        ("GET", "/healthz", None),
        ("POST", "/sign-in", None),
        ("GET", "/", "viewer"),
        ("GET", "/api/v1/runs", "viewer"),
        ("GET", "/metrics", "viewer"),
        ("POST", "/api/v1/runs", "operator"),
        ("POST", "/api/v1/runs/abc/stop", "operator"),
        ("POST", "/runs/abc/ask", "operator"),
        ("POST", "/api/v1/approvals/a.V-1.1.2", "operator"),
        ("POST", "/api/v1/hosts", "admin"),
        ("DELETE", "/api/v1/webhooks/w", "admin"),
        ("GET", "/api/v1/webhooks", "admin"),
        ("GET", "/audit", "admin"),
        ("POST", "/api/v1/people", "admin"),
        ("POST", "/static/temper.css", "admin"),
        ("POST", "/api/v1/runs/abc/stop/../../people", "admin"),
        ("PROPFIND", "/", "admin"),
    ],
)
def test_what_an_address_asks_for(method, path, right):
    assert needed(method, path) == right


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
