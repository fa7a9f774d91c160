"""The times of the newest backup and of the first start, kept in the data folder for the server to judge."""

from pathlib import Path

NAME, FIRST_START = "last_backup", "first_start"


def record_backup(data: Path, at: float) -> None:
    """Write the time of a finished backup."""
    _write_time(data, NAME, at)


def read_backup_time(data: Path) -> float | None:
    """Return the time of the newest backup; None if none was made, or if the record cannot be read."""
    return _read_time(data, NAME)


def record_first_start(data: Path, at: float) -> None:
    """Write since when the folder is used, unless it is known. A folder of an older version is as old as its files."""
    if _read_time(data, FIRST_START) is None:
        _write_time(data, FIRST_START, min((path.lstat().st_mtime for path in data.iterdir()), default=at))


def read_backup_age(data: Path, now: float, *, shared: bool) -> float | None:
    """Return the seconds since the newest backup, or since the first start if none was made.

    `shared`: other nodes use the same database, and one of them may make the backups: without one here, return None.
    """
    since = read_backup_time(data) or (None if shared else _read_time(data, FIRST_START))
    return None if since is None else max(0.0, now - since)


def _write_time(data: Path, name: str, at: float) -> None:
    """Replace the file as a whole: a server may read it meanwhile."""
    part = data / f"{name}.part"
    part.write_text(f"{at:.0f}\n")
    part.replace(data / name)


def _read_time(data: Path, name: str) -> float | None:
    try:
        return float((data / name).read_text())
    except (OSError, ValueError):
        return None
