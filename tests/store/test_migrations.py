"""A process may die while it brings a database up: the next one finds nothing half done."""

import multiprocessing
import os
import signal
import sqlite3

import pytest
from sqlalchemy import Engine, event

from app.store.db import HEAD, open_database, revision

SPAWN = multiprocessing.get_context("spawn")


def killed_at(path, statement):
    """Opens the database and is killed before its `statement`-th statement."""
    left = statement

    def count(*_):
        nonlocal left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(Engine, "before_cursor_execute", count)
    open_database(path).dispose()


@pytest.mark.parametrize("statement", [6, 15, 30, 45])
def test_killed_in_the_middle_of_the_migrations(tmp_path, statement):
    path = tmp_path / "t.sqlite"
    opening = SPAWN.Process(target=killed_at, args=(path, statement))
    opening.start()
    opening.join(30)
    assert opening.exitcode == -signal.SIGKILL
    with sqlite3.connect(path) as raw:
        assert raw.execute("select count(*) from sqlite_master").fetchone() == (0,)
    raw.close()
    database = open_database(path)
    assert revision(database) == HEAD
    database.dispose()


def test_two_that_open_a_new_file_at_once_both_come_up(tmp_path):
    path = tmp_path / "t.sqlite"
    both = [SPAWN.Process(target=killed_at, args=(path, 10_000)) for _ in range(2)]
    for one in both:
        one.start()
    for one in both:
        one.join(30)
    assert [one.exitcode for one in both] == [0, 0]
