"""Who may become a person, and who may stop being one: the rule of the page, the API and the terminal."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlmodel import Session

from app.errors import Rejected
from app.store import issued_credentials, people
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from tests.postgres import new_database

PASSWORD = "twelve signs"


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as made:
        yield made
    database.dispose()


@pytest.mark.parametrize(
    ("name", "right", "password", "field"),
    [
        ("a b", "admin", PASSWORD, "name"),
        ("", "admin", PASSWORD, "name"),
        ("a" * 65, "admin", PASSWORD, "name"),
        ("ada", "root", PASSWORD, "right"),
        ("ada", "admin", "x" * 11, "password"),
        ("ada", "admin", "x" * 201, "password"),
    ],
)
def test_what_is_wrong_with_a_new_person_is_named(name, right, password, field):
    with pytest.raises(Rejected) as wrong:
        people.build_person(name, right, password)
    assert wrong.value.field == field


def test_a_name_is_given_once_and_the_only_admin_stays(session):
    people.add_person(session, people.build_person("ada", "admin", PASSWORD))
    for act, kind in (
        (lambda: people.add_person(session, people.build_person("ada", "viewer", PASSWORD)), "exists"),
        (lambda: people.disable_person(session, "ada"), "wrong-state"),
        (lambda: people.disable_person(session, "bob"), "not-found"),
    ):
        with pytest.raises(Rejected) as wrong:
            act()
        assert wrong.value.kind == kind
    people.add_person(session, people.build_person("bob", "admin", PASSWORD))
    _, secret = issued_credentials.issue_credential(
        session, person="ada", right="admin", kind="session", label="", seconds=60
    )
    people.disable_person(session, "ada")
    assert people.find_person(session, "ada").disabled
    assert issued_credentials.find_credential_even_if_invalid(session, secret).ended_at


def test_a_person_is_made_at_the_databases_time(postgres_server):
    new = people.build_person("ada", "admin", PASSWORD)
    database = open_and_migrate_database(new_database(postgres_server))
    with Session(database) as session:
        before = database_time(session)
        people.add_person(session, new)
        assert before <= new.made_at <= database_time(session)
    database.dispose()


def issue(session, person="ada", kind="session", **more):
    return issued_credentials.issue_credential(
        session, person=person, right="viewer", kind=kind, label="", seconds=60, **more
    )


def test_an_address_is_known_from_an_earlier_session_of_the_same_person_alone(session):
    row, _ = issue(session, source="192.0.2.7")
    issue(session, source="192.0.2.8", kind="browser")
    since = row.made_at - 1
    assert issued_credentials.has_signed_in_from(session, "ada", "192.0.2.7", since) is True
    for name, source, after in (
        ("bob", "192.0.2.7", since),
        ("ada", "192.0.2.8", since),
        ("ada", "192.0.2.9", since),
        ("ada", "192.0.2.7", row.made_at),
    ):
        assert issued_credentials.has_signed_in_from(session, name, source, after) is False


def test_a_browser_is_known_by_its_secret_until_it_expires_or_is_ended(session):
    row, secret = issue(session, kind="browser")
    _, of_a_session = issue(session)
    now = row.made_at
    assert issued_credentials.find_valid_browser_cookie_id(session, "ada", secret, now) == row.id
    for name, told, at in (
        ("bob", secret, now),
        ("ada", of_a_session, now),
        ("ada", "", now),
        ("ada", secret, now + 60),
    ):
        assert issued_credentials.find_valid_browser_cookie_id(session, name, told, at) == ""
    issued_credentials.end_credential(session, row)
    assert issued_credentials.find_valid_browser_cookie_id(session, "ada", secret, now) == ""


def test_a_credential_names_who_made_it_unless_its_owner_did(session):
    makers = ((), ("ada",), ("bob",), ("bob", "carl"), ("bob", "ada"))
    made = [issue(session, kind="token", made_by=by)[0].made_by for by in makers]
    assert made == ["", "", "bob", "bob carl", "bob ada"]


def test_of_two_admins_who_disable_each_other_at_the_same_time_one_stays(postgres_server):
    database = open_and_migrate_database(new_database(postgres_server))
    with Session(database) as session, session.begin():
        for name in ("ada", "bob"):
            people.add_person(session, people.build_person(name, "admin", PASSWORD))

    def disable_bob():
        with Session(database) as session, session.begin():
            people.disable_person(session, "bob")

    with ThreadPoolExecutor(1) as pool:
        with Session(database) as session, session.begin():
            people.disable_person(session, "ada")
            session.flush()
            other = pool.submit(disable_bob)
            wait_until_blocked(database)
        with pytest.raises(Rejected, match="bob is the only admin"):
            other.result(30)
    database.dispose()


def wait_until_blocked(database):
    blocked = text(
        "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()"
    )
    late = time.monotonic() + 30
    while time.monotonic() < late:
        with database.connect() as connection:
            if connection.execute(blocked).scalar_one():
                return
        time.sleep(0.01)
    pytest.fail("nobody waits")
