"""The time of the newest backup, kept in the data folder, so that a server knows how old it is."""

from pathlib import Path

NAME = "last_backup"


def record_backup(data: Path, at: float) -> None:
    """Write the time of a finished backup. Replaces the file as a whole: a server may read it meanwhile."""
    part = data / f"{NAME}.part"
    part.write_text(f"{at:.0f}\n")
    part.replace(data / NAME)


def read_backup_time(data: Path) -> float | None:
    """Return the time of the newest backup; None if none was made, or if the record cannot be read."""
    try:
        return float((data / NAME).read_text())
    except (OSError, ValueError):
        return None
