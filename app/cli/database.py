"""`temper db copy`: copy the data folder's SQLite database to the shared PostgreSQL database."""

from rich.console import Console

from app.config import Settings
from app.errors import BadInput
from app.runtime.data_folder import hold_lock
from app.store.database_copy import copy_all_tables
from app.store.db import mask_password, open_database


def copy_database(settings: Settings) -> None:
    if not settings.database_url:
        raise BadInput(
            "no target database is set: use "
            "TEMPER_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE temper db copy."
        )
    file = settings.data / "temper.sqlite"
    if not file.is_file():
        raise BadInput(f"there is no {file} to copy: give its folder with --data.")
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
        f"copied to {mask_password(settings.database_location)}: {sum(rows.values())} rows, "
        f"{rows['event']} of them events, runs: {rows['run']}; valid chains in the copy: "
        f"{copied.chains}",
        highlight=False,
    )
    console.print(
        f"start every node with TEMPER_DATABASE_URL and --data {settings.data}; unfinished runs "
        f"resume there. {file} stays unchanged, and is no longer used.",
        highlight=False,
    )
