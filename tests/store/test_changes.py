"""Whether the database has changed, as SQLite itself tells it."""

import sqlite3

from app.store.changes import Changes
from app.store.db import open_database
from tests.postgres import new_database


def test_a_commit_of_anybody_makes_another_version_and_nothing_else_does(tmp_path):
    database = open_database(tmp_path / "temper.sqlite")
    changes = Changes(database)
    before = changes.version()
    with database.connect() as connection:
        connection.exec_driver_sql("select count(*) from run").scalar()
    assert changes.version() == before
    with database.begin() as connection:
        connection.exec_driver_sql("create table ours (x)")
    ours = changes.version()
    assert ours != before
    other = sqlite3.connect(tmp_path / "temper.sqlite")  # as another process has it
    with other:
        other.execute("insert into ours values (1)")
    other.close()
    assert changes.version() != ours
    changes.close()
    database.dispose()


def test_postgresql_cannot_tell_so_it_may_always_have_changed(postgres_server):
    database = open_database(new_database(postgres_server))
    changes = Changes(database)
    assert changes.version() != changes.version()
    changes.close()
    database.dispose()
