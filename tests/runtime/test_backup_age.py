"""The newest backup counts, whichever node made it, and a record that cannot be read counts as none."""

import os

import pytest
from sqlmodel import Session

from app.runtime.backup_age import (
    OLD_NAME,
    find_backup_time,
    find_seconds_since_backup_or_first_start,
    record_first_use_by_oldest_file,
)
from app.store.backup_times import record_backup
from app.store.db import open_and_migrate_database


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def test_the_newest_backup_counts_also_for_the_folder_of_another_node(session, folder, tmp_path):
    assert find_backup_time(session, folder) is None
    for at in (1000.0, 3000.0, 2000.0):
        record_backup(session.get_bind(), at, "ada")
    record_backup(session.get_bind(), 3000.0, "ada")
    assert find_backup_time(session, folder) == find_backup_time(session, tmp_path / "elsewhere") == 3000.0


def test_a_record_of_an_older_version_counts_and_a_damaged_one_does_not(session, folder):
    (folder / OLD_NAME).write_text("1000\n")
    assert find_backup_time(session, folder) == 1000.0
    record_backup(session.get_bind(), 500.0, "ada")
    assert find_backup_time(session, folder) == 1000.0
    for damaged in (b"\xff", b"soon"):
        (folder / OLD_NAME).write_bytes(damaged)
        assert find_backup_time(session, folder) == 500.0


def test_without_a_backup_its_age_counts_from_the_first_start(session, folder):
    assert find_seconds_since_backup_or_first_start(session, folder, 5000.0) is None
    record_first_use_by_oldest_file(folder, 1000.0)
    record_first_use_by_oldest_file(folder, 4000.0)
    assert find_seconds_since_backup_or_first_start(session, folder, 5000.0) == 4000.0
    record_backup(session.get_bind(), 4500.0, "ada")
    assert find_seconds_since_backup_or_first_start(session, folder, 5000.0) == 500.0


def test_a_folder_of_an_older_version_is_as_old_as_its_files(session, folder):
    (folder / "temper.sqlite").touch()
    os.utime(folder / "temper.sqlite", (300.0, 300.0))
    record_first_use_by_oldest_file(folder, 1000.0)
    assert find_seconds_since_backup_or_first_start(session, folder, 1000.0) == 700.0
