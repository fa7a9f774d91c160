"""`temper db copy`: copy the data folder's SQLite database to the shared PostgreSQL database."""

from rich.console import Console

from app.config import Settings
from app.errors import BadInput
from app.runtime.lock import held
from app.store.copying import copy
from app.store.db import open_database, shown


def copy_database(settings: Settings) -> None:
    if not settings.database_url:
        raise BadInput("say where to: TEMPER_DATABASE_URL=postgresql://USER:PASSWORD@HOST/DATABASE temper db copy.")
    file = settings.data / "temper.sqlite"
    if not file.is_file():
        raise BadInput(f"there is no {file} to copy: name its folder with --data.")
    with held(settings.lock):
        source, into = open_database(file), open_database(settings.database)
        try:
            copied = copy(source, into)
        finally:
            source.dispose()
            into.dispose()
    rows = copied.rows
    console = Console()
    console.print(
        f"copied to {shown(settings.database)}: {sum(rows.values())} rows, {rows['event']} of them events, "
        f"runs: {rows['run']}; read again there, every chain holds: {copied.chains}",
        highlight=False,
    )
    console.print(
        f"start every node with TEMPER_DATABASE_URL and --data {settings.data}; runs that had not ended go on there. "
        f"{file} stays as it is, and is not read any more.",
        highlight=False,
    )
