"""How old the newest backup is: by the database, or by the data folder where an older version made it."""

from pathlib import Path

from sqlmodel import Session

from app.store.backup_times import find_newest_backup_time

OLD_NAME, FIRST_START = "last_backup", "first_start"
"""Files of the data folder. The first is of versions before the table of backups."""


def find_backup_time(session: Session, data: Path) -> float | None:
    """Return the time of the newest backup; None if none was made, or if its record cannot be read."""
    known = (find_newest_backup_time(session), _find_stored_time(data, OLD_NAME))
    return max((one for one in known if one is not None), default=None)


def record_first_use_by_oldest_file(data: Path, time_if_empty: float) -> None:
    """Write since when the folder is used, unless it is known. A folder of an older version is as old as its files."""
    if _find_stored_time(data, FIRST_START) is None:
        _write_time(data, FIRST_START, min((path.lstat().st_mtime for path in data.iterdir()), default=time_if_empty))


def find_seconds_since_backup_or_first_start(session: Session, data: Path, now: float) -> float | None:
    """Return the seconds since the newest backup, or since the first start of this folder if none was made."""
    since = find_backup_time(session, data) or _find_stored_time(data, FIRST_START)
    return None if since is None else max(0.0, now - since)


def _write_time(data: Path, name: str, at: float) -> None:
    """Replace the file as a whole: a server may read it meanwhile."""
    part = data / f"{name}.part"
    part.write_text(f"{at:.0f}\n")
    part.replace(data / name)


def _find_stored_time(data: Path, name: str) -> float | None:
    try:
        return float((data / name).read_text())
    except (OSError, ValueError):
        return None
