"""What is on disk after a power cut."""

from app.targets.crash_safe_writes import Disk


def test_a_rename_is_synced_in_both_folders(tmp_path):
    steps: list[str] = []
    disk = Disk(steps.append)
    (tmp_path / "a").mkdir()
    disk.rename(tmp_path / "a", tmp_path / "b")
    assert steps == ["rename a to b", "sync the folder of b"]
    (tmp_path / "b/c").mkdir()
    steps.clear()
    disk.rename(tmp_path / "b/c", tmp_path / "d")
    assert steps == ["rename c to d", "sync the folder of d", "sync the folder of c"]
