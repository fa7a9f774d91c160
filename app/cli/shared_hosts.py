"""The hosts of a database that several nodes share, as a command on any machine sees them."""

from functools import partial

from app.config import Settings
from app.store.db import open_database
from app.store.host_files import HostFolders
from app.targets.ownership import ALONE, Ownership


def caught_up(settings: Settings) -> HostFolders | None:
    """The folder here knows what the nodes know; None where there is one process and one folder."""
    if not settings.database_url:
        return None
    files = HostFolders(open_database(settings.database), settings.hosts)
    files.catch_up()
    return files


def owned(settings: Settings, host: str) -> Ownership:
    """A host that nobody works on, with its journals as the last node left them."""
    files = caught_up(settings)
    return Ownership(bring=partial(files.bring, host), keep=partial(files.keep, host)) if files else ALONE
