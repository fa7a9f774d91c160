"""The newest backup's time is read as it was recorded, and a record that cannot be read counts as none."""

import os

from app.runtime.backup_record import (
    NAME,
    read_backup_age,
    read_backup_time,
    record_backup,
    record_first_start,
)


def test_the_newest_backup_counts(tmp_path):
    assert read_backup_time(tmp_path) is None
    record_backup(tmp_path, 1000.0)
    record_backup(tmp_path, 2000.0)
    assert read_backup_time(tmp_path) == 2000.0
    assert [one.name for one in tmp_path.iterdir()] == [NAME]


def test_a_damaged_record_is_no_backup(tmp_path):
    (tmp_path / NAME).write_bytes(b"\xff")
    assert read_backup_time(tmp_path) is None
    (tmp_path / NAME).write_text("soon")
    assert read_backup_time(tmp_path) is None


def test_without_a_backup_its_age_counts_from_the_first_start_unless_another_node_may_have_one(tmp_path):
    assert read_backup_age(tmp_path, 5000.0, shared=False) is None
    record_first_start(tmp_path, 1000.0)
    record_first_start(tmp_path, 4000.0)
    assert read_backup_age(tmp_path, 5000.0, shared=False) == 4000.0
    assert read_backup_age(tmp_path, 5000.0, shared=True) is None
    record_backup(tmp_path, 4500.0)
    assert read_backup_age(tmp_path, 5000.0, shared=False) == read_backup_age(tmp_path, 5000.0, shared=True) == 500.0


def test_a_folder_of_an_older_version_is_as_old_as_its_files(tmp_path):
    (tmp_path / "temper.sqlite").touch()
    os.utime(tmp_path / "temper.sqlite", (300.0, 300.0))
    record_first_start(tmp_path, 1000.0)
    assert read_backup_age(tmp_path, 1000.0, shared=False) == 700.0
