"""What this process writes is its account's alone, from the first byte."""

import logging
import os
import stat
from pathlib import Path

log = logging.getLogger(__name__)

OTHERS = 0o077


def keep_to_itself() -> None:
    os.umask(OTHERS)


def tighten(data: Path) -> None:
    """A data folder that an earlier Temper left open. What lies in hosts/ has modes that are a host's own."""
    for path in [data, *sorted(data.iterdir())]:
        try:
            found = path.lstat()
            if stat.S_IMODE(found.st_mode) & OTHERS and (stat.S_ISDIR(found.st_mode) or stat.S_ISREG(found.st_mode)):
                path.chmod(stat.S_IMODE(found.st_mode) & ~OTHERS)
                log.warning("%s could be read by others (mode %o): now it cannot", path, stat.S_IMODE(found.st_mode))
        except FileNotFoundError:
            continue  # the database's own files come and go
        except OSError as exc:
            log.warning("%s can be read by others, and that cannot be changed: %s", path, exc.strerror)
