"""A process may die while it brings a database up: the next one finds nothing half done."""

import importlib
import multiprocessing
import os
import pkgutil
import signal
import sqlite3

import pytest
from alembic import command
from sqlalchemy import Engine, create_engine, event, inspect, text
from sqlmodel import Session, SQLModel, select

from app import store
from app.store.db import HEAD, open_and_migrate_database, read_revision
from app.store.models import CredentialRow, PersonRow, ScheduleRow
from tests.store.fresh import moved, tables

OUTCOMES = {
    "ran": "Run abcd at 2026-01-01 02:00 UTC.",
    "missed": "3 missed since 2026-01-01 02:00 UTC, Temper did not run.",
    "skipped": "Skipped at 2026-01-01 02:00 UTC: run abcd was still at work on fixture.",
    "nothing": "Nothing at 2026-01-01 02:00 UTC: there is no host 'web'",
    "stopped": "Run abcd at 2026-01-01 02:00 UTC. Stopped at the end of its window.",
    "new": "",
}
LABELS = {
    ("link", "/runs/abcd"): ("abcd", ""),
    ("link", "/"): ("", ""),
    ("session", "192.0.2.7"): ("", "192.0.2.7"),
    ("browser", "2001:db8::1"): ("", "2001:db8::1"),
    ("session", "login.example, 192.0.2.7"): ("", ""),
    ("token", "/runs/abcd"): ("", ""),
}
OLD_SCHEDULE = """
insert into schedule (id, host, skill, rules, mode, cron, zone, enabled, "by", made_at, next_at, run, outcome)
values (:id, 'fixture', 'stig', '', 'scan', '0 * * * *', 'UTC', true, 'ada', 1.0, 2.0, '', :outcome)
"""
OLD_CREDENTIAL = """
insert into credential (id, person, "right", kind, label, digest, made_at, expires_at)
values (:id, 'ada', 'viewer', :kind, :label, :id, 1.0, 2.0)
"""
FORK = multiprocessing.get_context("fork")


def killed_at(path, statement):
    """Opens the database and is killed before its `statement`-th statement."""
    left = statement

    def count(*_):
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)
    open_and_migrate_database(path).dispose()


def in_it(path):
    raw = sqlite3.connect(path)
    found = raw.execute("select sql from sqlite_master order by name").fetchall()
    raw.close()
    return found


@pytest.mark.parametrize(("before", "statement"), [("", 6), ("", 45), ("0001", 15), ("0010", 30)])
def test_killed_while_tables_are_made_or_changed(tmp_path, before, statement):
    path = tmp_path / "t.db"
    if before:
        old = create_engine(f"sqlite:///{path}")
        moved(old, before)
        old.dispose()
    was = in_it(path)
    opening = FORK.Process(target=killed_at, args=(path, statement))
    opening.start()
    opening.join(30)
    assert opening.exitcode == -signal.SIGKILL
    assert in_it(path) == was
    database = open_and_migrate_database(path)
    assert read_revision(database) == HEAD
    database.dispose()


def test_a_new_file_has_the_tables_that_the_migrations_make(tmp_path):
    """Should it not: `python -m tests.store.fresh`."""
    new = open_and_migrate_database(tmp_path / "new.db")
    old = create_engine(f"sqlite:///{tmp_path / 'old.db'}")
    moved(old, HEAD)
    assert tables(new) == tables(old)
    for one in (new, old):
        one.dispose()


def test_tables_have_the_keys_indexes_and_required_columns_that_their_rows_declare(tmp_path):
    for module in pkgutil.iter_modules(store.__path__, "app.store."):
        importlib.import_module(module.name)
    database = open_and_migrate_database(tmp_path / "t.db")
    made, declared = inspect(database), SQLModel.metadata.tables
    assert {*made.get_table_names()} == {*declared, "alembic_version"}
    assert {name: made.get_pk_constraint(name)["constrained_columns"] for name in declared} == {
        name: [column.name for column in table.primary_key] for name, table in declared.items()
    }
    assert {name: {one["name"]: one["nullable"] for one in made.get_columns(name)} for name in declared} == {
        name: {column.name: column.nullable for column in table.columns} for name, table in declared.items()
    }
    for name, table in declared.items():
        indexed = {one["name"]: one["column_names"] for one in made.get_indexes(name)}
        unique = [one["column_names"] for one in made.get_unique_constraints(name)]
        assert indexed == {str(one.name): [column.name for column in one.columns] for one in table.indexes}, name
        assert unique == [[column.name] for column in table.columns if column.unique], name
    database.dispose()


def test_two_that_open_a_new_file_at_once_both_come_up(tmp_path):
    path = tmp_path / "t.db"
    both = [FORK.Process(target=killed_at, args=(path, 10_000)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(30)
    assert [one.exitcode for one in both] == [0, 0]


def test_what_was_read_out_of_sentences_and_labels_stands_in_columns(tmp_path):
    path = tmp_path / "t.sqlite"
    database = open_and_migrate_database(path)
    moved(database, "0010", command.downgrade)
    oidc = f"oidc${'a' * 32}${'b' * 32}"
    with database.begin() as connection:
        for name, outcome in OUTCOMES.items():
            values = {"id": name, "outcome": outcome}
            connection.execute(text(OLD_SCHEDULE), values)
        for name, password in (("ada", "$argon2id$x"), ("bob", oidc)):
            connection.execute(
                text("insert into person values (:n, 'viewer', :p, 1.0, false)"), {"n": name, "p": password}
            )
        for kind, label in LABELS:
            values = {"id": f"{kind} {label}", "kind": kind, "label": label}
            connection.execute(text(OLD_CREDENTIAL), values)
    database.dispose()
    opened = open_and_migrate_database(path)
    with Session(opened) as session:
        slipped = {row.id: (row.unkept, row.stopped) for row in session.exec(select(ScheduleRow))}
        people = {row.name: (row.password, row.identity) for row in session.exec(select(PersonRow))}
        found = {(row.kind, row.label): (row.run, row.source) for row in session.exec(select(CredentialRow))}
    assert slipped == {
        "ran": (False, False), "missed": (True, False), "skipped": (True, False), "nothing": (True, False),
        "stopped": (False, True), "new": (False, False),
    }  # fmt: skip
    assert people == {"ada": ("$argon2id$x", ""), "bob": ("", "a" * 32 + "b" * 32)}
    assert found == LABELS
    assert "host" not in inspect(opened).get_table_names()
    opened.dispose()
