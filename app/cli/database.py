"""`temper db copy`: copy the data folder's SQLite database to the shared PostgreSQL database."""

from rich.console import Console

from app.config import Settings
from app.errors import BadInput
from app.runtime.data_folder import hold_lock
from app.store.database_copy import copy_all_tables
from app.store.db import mask_password, open_database


def copy_database(settings: Settings) -> None:
    if not settings.database_url:
        raise BadInput("say where to: TEMPER_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE temper db copy.")
    file = settings.data / "temper.sqlite"
    if not file.is_file():
        raise BadInput(f"there is no {file} to copy: name its folder with --data.")
    with hold_lock(settings.lock_path):
        source, into = open_database(file), open_database(settings.database_location)
        try:
            copied = copy_all_tables(source, into)
        finally:
            source.dispose()
            into.dispose()
    rows = copied.rows
    console = Console()
    console.print(
        f"copied to {mask_password(settings.database_location)}: {sum(rows.values())} "
        f"rows, {rows['event']} of them events, "
        f"runs: {rows['run']}; read again there, every chain holds: {copied.chains}",
        highlight=False,
    )
    console.print(
        f"start every node with TEMPER_DATABASE_URL and --data {settings.data}; runs that had not ended go on there. "
        f"{file} stays as it is, and is not read any more.",
        highlight=False,
    )
