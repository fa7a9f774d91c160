"""What is said, and sent in, of an error that nobody foresaw."""

import subprocess

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session

from app.cli.crash_report import explain_database_error, format_redacted_traceback
from app.store import people
from app.store.db import open_and_migrate_database
from app.store.models import CredentialRow
from tests.forkserver import Temper
from tests.postgres import new_database

SECRET = "9f86d081884c7d659a2feaa0c55ad015"


def credential(name):
    return CredentialRow(
        id=name, person="ada", right="admin", kind="token", label="t", digest=SECRET, made_at=1.0, expires_at=2.0
    )


@pytest.fixture(params=["file", "postgresql"])
def database(request, tmp_path):
    place = tmp_path / "t.sqlite" if request.param == "file" else new_database(request.getfixturevalue("server"))
    made = open_and_migrate_database(place)
    yield made
    made.dispose()


@pytest.fixture(scope="session")
def server(postgres_server):
    return postgres_server


def add_twice(database):
    with Session(database) as session, session.begin():
        session.add_all([credential("one"), credential("two")])


def test_a_fault_that_is_sent_in_holds_nothing_of_what_the_database_keeps(database):
    """The driver quotes the row that was there, and SQLAlchemy what the statement was given."""
    with pytest.raises(IntegrityError) as raised:
        add_twice(database)
    told = format_redacted_traceback(raised.value)
    assert SECRET not in told
    assert SECRET not in str(raised.value).partition("DETAIL")[0]
    assert "INSERT INTO credential" in told
    assert "test_crash_report.py" in told
    assert "That led to:" in told
    assert explain_database_error(raised.value) == ""


def ended(*line):
    child = Temper(*line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    _, said = child.communicate(timeout=60)
    return child.returncode, said


def test_a_role_that_may_only_read_is_told_so_by_each_command_that_writes(server, tmp_path, monkeypatch):
    address = new_database(server)
    database = open_and_migrate_database(address)
    with Session(database) as session, session.begin():
        people.add_person(session, people.build_person("ada", "admin", "correct horse battery"))
        session.execute(text("create role reader login"))
        session.execute(text("grant select on all tables in schema public to reader"))
    monkeypatch.setenv("TEMPER_DATABASE_URL", address.replace("temper@", "reader@"))
    try:
        for line in (["token", "create", "ada"], ["key"]):
            code, said = ended(*line, "--data", tmp_path)
            assert (code, said.count("\n")) == (1, 1), said
            assert said.startswith("temper: the role in TEMPER_DATABASE_URL may not do this: permission denied for")
        assert ended("nodes", "--data", tmp_path) == (2, ""), "what only reads needs no more"
    finally:
        with database.begin() as connection:
            connection.execute(text("drop owned by reader"))
            connection.execute(text("drop role reader"))
        database.dispose()
