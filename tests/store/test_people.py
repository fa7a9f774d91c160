"""Who may become a person, and who may stop being one: the rule of the page, the API and the terminal."""

import pytest
from sqlmodel import Session

from app.errors import Rejected
from app.store import credentials, people
from app.store.db import open_database

PASSWORD = "twelve signs"


@pytest.fixture
def session(tmp_path):
    database = open_database(tmp_path / "t.sqlite")
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
    _, secret = credentials.issue_credential(session, person="ada", right="admin", kind="session", label="", seconds=60)
    people.disable_person(session, "ada")
    assert people.find_person(session, "ada").disabled
    assert credentials.find_credential(session, secret).ended_at
