"""Keep files that this process writes readable by its own account only."""

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

OTHERS = 0o077


def set_private_umask() -> None:
    os.umask(OTHERS)


def write_new_private_file(file: Path, content: bytes) -> None:
    """Write a file that does not exist yet. It is on the disk when this returns."""
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as new:
        new.write(content)
        new.flush()
        os.fsync(new.fileno())


def restrict_folder_and_direct_entries_to_owner(data_folder: Path) -> None:
    """Remove other accounts' access to the data folder and its direct entries; log each change.

    It does not descend into hosts/: the files there keep the modes they have on their host."""
    for path in [data_folder, *sorted(data_folder.iterdir())]:
        try:
            found = path.lstat()
            if stat.S_IMODE(found.st_mode) & OTHERS and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
                path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
                log.warning("%s could be read by others (mode %o): now it cannot", path, stat.S_IMODE(found.st_mode))
        except FileNotFoundError:
            continue  # the database creates and removes files meanwhile
        except OSError as exc:
            log.warning("%s can be read by others, and that cannot be changed: %s", path, exc.strerror)
