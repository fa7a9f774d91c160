"""How a database is opened: a file or an address, new or old, and what people read of it."""

from pathlib import Path

import pytest
from sqlalchemy import Engine, event, make_url, text
from sqlalchemy.exc import OperationalError

from app.errors import EnvironmentUnusable
from app.store.db import (
    HEAD,
    add_keepalives_to_address,
    is_shared,
    mask_password,
    open_and_migrate_database,
    open_separate_engine,
    read_revision,
    shorten_database_error,
    use_autocommit_if_shared,
)
from tests.postgres import new_database

ADDRESS = "postgresql://ada:CANARY@db.example/temper"


@pytest.fixture
def file(tmp_path):
    opened = open_and_migrate_database(tmp_path / "new" / "temper.db")
    yield opened
    opened.dispose()


@pytest.fixture
def shared(postgres_server):
    opened = open_and_migrate_database(new_database(postgres_server))
    yield opened
    opened.dispose()


def read_pragma(engine, name):
    with engine.connect() as connection:
        return connection.exec_driver_sql(f"pragma {name}").scalar()


def test_a_file_and_its_folder_are_made_and_opened_to_be_read_beside_a_writer(file):
    assert read_revision(file) == HEAD
    assert [read_pragma(file, name) for name in ("journal_mode", "synchronous", "foreign_keys")] == ["wal", 1, 1]


def test_a_new_file_is_made_from_the_schema_and_walks_through_no_migration(tmp_path):
    statements = []

    def note(_connection, _cursor, statement, *_):
        statements.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        open_and_migrate_database(tmp_path / "temper.db").dispose()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    assert [one for one in statements if "alembic_version" in one and one.startswith(("INSERT", "UPDATE"))] == [
        f"INSERT INTO alembic_version VALUES ('{HEAD}')"
    ]


def test_a_file_that_another_process_completes_first_is_taken_as_it_is(tmp_path):
    path, faster = tmp_path / "temper.db", []

    def complete_first(_connection, _cursor, statement, *_):
        if statement == "begin immediate" and not faster:
            faster.append(path)
            open_and_migrate_database(path).dispose()

    event.listen(Engine, "before_cursor_execute", complete_first)
    try:
        opened = open_and_migrate_database(path)
    finally:
        event.remove(Engine, "before_cursor_execute", complete_first)
    assert faster
    assert read_revision(opened) == HEAD
    opened.dispose()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://ada@db.example:port/temper", "TEMPER_DATABASE_URL is not a valid address: use postgresql://"),
        ("nothing", "TEMPER_DATABASE_URL is not a valid address: use postgresql://"),
        ("mysql://db.example/temper", "TEMPER_DATABASE_URL names mysql. Temper supports PostgreSQL"),
    ],
)
def test_an_address_that_temper_cannot_use_is_refused_with_what_to_write(address, words):
    with pytest.raises(EnvironmentUnusable, match=words):
        open_and_migrate_database(address)


def test_a_folder_that_cannot_be_made_is_refused_with_what_to_choose(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(EnvironmentUnusable, match="Choose a writable folder with --data"):
        open_and_migrate_database(tmp_path / "file" / "temper.db")


def test_a_file_of_a_newer_temper_is_refused_with_what_to_do(file):
    with file.begin() as connection:
        connection.execute(text("update alembic_version set version_num = '9999'"))
    file.dispose()
    with pytest.raises(EnvironmentUnusable, match=r"a newer Temper \(9999\): upgrade temper, or choose another --data"):
        open_and_migrate_database(place := Path(file.url.database))
    assert place not in list_open_files()


def list_open_files():
    return [one.resolve() for one in Path("/proc/self/fd").iterdir()]


def test_a_read_alone_needs_no_transaction_between_nodes_and_a_file_is_left_as_it_is(file, shared):
    assert use_autocommit_if_shared(file) is file
    assert use_autocommit_if_shared(shared).get_execution_options()["isolation_level"] == "AUTOCOMMIT"
    assert [is_shared(one) for one in (file, shared)] == [False, True]


def test_a_separate_engine_opens_the_same_database(file, shared):
    for opened in (file, shared):
        other = open_separate_engine(opened, 1, tests_before_use=False)
        assert read_revision(other) == HEAD
        other.dispose()


def test_an_address_is_shown_without_its_password():
    assert mask_password(ADDRESS) == "postgresql://ada:***@db.example/temper"
    assert mask_password(Path("/data/temper.sqlite")) == "/data/temper.sqlite"


def test_keepalives_are_added_to_an_address_and_take_the_place_of_none_that_it_has():
    query = make_url(add_keepalives_to_address(f"{ADDRESS}?connect_timeout=3")).query
    assert (query["connect_timeout"], query["keepalives_count"]) == ("3", "3")
    assert make_url(add_keepalives_to_address(ADDRESS)).query["connect_timeout"] == "10"
    assert "CANARY" in add_keepalives_to_address(ADDRESS)
    assert add_keepalives_to_address("sqlite:///x") == "sqlite:///x"


def test_an_error_is_told_by_its_first_line():
    assert shorten_database_error(OperationalError("select", {}, Exception("\nis locked\nHINT: wait"))) == "is locked"
    assert shorten_database_error(OSError("gone\nfar")) == "gone"
