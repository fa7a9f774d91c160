"""Access from a command to the hosts of a shared database."""

from functools import partial

from app.config import Settings
from app.store.db import open_database
from app.store.host_files import HostFolders
from app.targets.ownership import ALONE, Ownership


def caught_up(settings: Settings) -> HostFolders | None:
    """Bring the local hosts folder up to date with the shared database; return None if there is none."""
    if not settings.database_url:
        return None
    files = HostFolders(open_database(settings.database), settings.hosts)
    files.catch_up()
    return files


def owned(settings: Settings, host: str) -> Ownership:
    """Return the ownership of a host outside any run, with the journals of the last node that worked on it."""
    files = caught_up(settings)
    return Ownership(bring=partial(files.bring, host), keep=partial(files.keep, host)) if files else ALONE
