"""Access from a command to the hosts of a shared database."""

from functools import partial

from app.config import Settings
from app.store.db import open_database
from app.store.host_files import HostFolders
from app.targets.host_lock import ALONE, Ownership


def sync_host_folders(settings: Settings) -> HostFolders | None:
    """Bring the local hosts folder up to date with the shared database; return None if there is none."""
    if not settings.database_url:
        return None
    files = HostFolders(open_database(settings.database_location), settings.hosts_folder)
    files.sync_on_start()
    return files


def create_ownership(settings: Settings, host: str) -> Ownership:
    """Return the ownership of a host outside any run, with the journals of the last node that worked on it."""
    files = sync_host_folders(settings)
    return (
        Ownership(load_folder=partial(files.fetch_folder, host), save_folder=partial(files.store_folder, host))
        if files
        else ALONE
    )
