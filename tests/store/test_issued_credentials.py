"""Credentials as their rows: what one is issued with, by what it is found, and when it has ended."""

import pytest
from sqlmodel import Session

from app.people.passwords import digest_random_secret_unsalted
from app.store import issued_credentials
from app.store.models import PersonRow

DAY = 24 * 3600.0


def issue(session, person="ada", kind="session", **more):
    return issued_credentials.issue_credential(
        session, person=person, right="viewer", kind=kind, label="l", seconds=60, **more
    )


def test_a_token_lasts_for_days_and_a_link_for_hours_and_shows_one_run(session):
    token, secret = issued_credentials.issue_token(session, person="ada", right="admin", label="ci", days=2)
    assert (token.kind, token.person, token.right, token.label, token.run) == ("token", "ada", "admin", "ci", "")
    assert token.expires_at - token.made_at == pytest.approx(2 * DAY)
    assert (token.digest, secret in (token.id, token.digest)) == (digest_random_secret_unsalted(secret), False)
    link, _ = issued_credentials.issue_link(session, "ada", "r1", hours=3, made_by=("bob",))
    assert (link.kind, link.right, link.label, link.run, link.made_by) == ("link", "viewer", "/runs/r1", "r1", "bob")
    assert link.expires_at - link.made_at == pytest.approx(3 * 3600)
    assert token.id != link.id
    made_for, _ = issued_credentials.issue_token(
        session, person="ada", right="viewer", label="", days=1, made_by=("bob",)
    )
    assert made_for.made_by == "bob"


def test_a_credential_is_found_by_its_secret_alone(session):
    row, secret = issue(session, source="192.0.2.7")
    issue(session)
    assert issued_credentials.find_credential_even_if_invalid(session, secret).id == row.id
    assert issued_credentials.find_credential_even_if_invalid(session, row.digest) is None
    assert issued_credentials.find_credential_even_if_invalid(session, "") is None


def test_those_that_have_not_ended_are_listed_by_kind_in_the_order_in_which_they_were_made(session):
    made = [issue(session, kind=kind)[0] for kind in ("token", "session", "link", "token")]
    for at, row in enumerate(made):
        row.made_at = 10.0 - at
    issued_credentials.end_credential(session, made[0])
    assert issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ["token", "link"]) == [
        made[3],
        made[2],
    ]
    assert issued_credentials.list_credentials_not_ended_but_maybe_expired(session, ["browser"]) == []
    assert issued_credentials.list_token_labels(session) == {made[0].id: "l", made[3].id: "l"}


def test_owners_come_with_their_credentials(session):
    owner = PersonRow(name="ada", right="admin", made_at=0.0)
    session.add(owner)
    mine, of_nobody = issue(session)[0], issue(session, person="bob")[0]
    other = issue(session)[0]
    found = issued_credentials.list_credentials_with_owners(session, [mine.id, of_nobody.id])
    assert [(row.id, person.name) for row, person in found] == [(mine.id, "ada")]
    assert other.id not in {row.id for row, _ in found}


def test_what_has_ended_keeps_the_time_of_its_end(session):
    row = issue(session)[0]
    row.ended_at = 5.0
    issued_credentials.end_credential(session, row)
    issued_credentials.end_credentials_of(session, "ada")
    assert row.ended_at == 5.0


def test_an_end_is_kept_and_ends_nobody_elses(database):
    with Session(database) as session:
        mine, others = issue(session, kind="token")[1], issue(session, person="bob")[1]
        again = issue(session)[1]
        session.commit()
    with Session(database) as session:
        issued_credentials.end_credentials_of(session, "ada")
        session.commit()
    with Session(database) as session:
        ended = [
            issued_credentials.find_credential_even_if_invalid(session, one).ended_at is not None
            for one in (mine, again, others)
        ]
        assert ended == [True, True, False]
