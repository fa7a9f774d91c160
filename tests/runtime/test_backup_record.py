"""The newest backup's time is read as it was recorded, and a record that cannot be read counts as none."""

from app.runtime.backup_record import NAME, read_backup_time, record_backup


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
