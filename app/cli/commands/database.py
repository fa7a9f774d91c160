"""Commands for the database."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings

app = typer.Typer()
db = typer.Typer(help="Manage the database.", no_args_is_help=True)
app.add_typer(db, name="db")


@app.command(name="tidy")
def tidy_database(
    older_than: Annotated[float, typer.Option(min=0, help="Days since a run ended.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print what would be done, and change nothing.")] = False,
    data: Data = Path("data"),
) -> None:
    """Shrink old runs to their evidence. Ends with 0, or with 2 if a run could not be shrunk."""
    from app.cli.tidy import tidy_runs as tidy_up

    raise typer.Exit(tidy_up(Settings(data=data), older_than, dry_run=dry_run))


@app.command(name="nodes")
def list_nodes(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the nodes of the database in TEMPER_DATABASE_URL. Ends with 0, or with 2 if no node works on runs."""
    from app.cli.nodes import print_nodes

    raise typer.Exit(print_nodes(Settings(data=data), as_json=as_json))


@app.command(name="backup")
def back_up_data(
    file: Annotated[Path, typer.Argument(help="File to write; an older one of that name is replaced.")],
    data: Data = Path("data"),
) -> None:
    """Write the database, keys, hosts and journals to one file, also while runs are at work."""
    from app.cli.backup import back_up

    back_up(Settings(data=data), file)


@app.command(name="restore")
def restore_data(
    file: Annotated[Path, typer.Argument(help="A file that temper backup wrote.")], data: Data = Path("data")
) -> None:
    """Restore a backup to an empty data folder, after checking its digests, chains and keys."""
    from app.cli.backup import restore_backup

    restore_backup(Settings(data=data), file)


@db.command("copy")
def db_copy(data: Data = Path("data")) -> None:
    """Copy the data folder's SQLite database to the PostgreSQL in TEMPER_DATABASE_URL, and verify the copy."""
    from app.cli.database import copy_database

    copy_database(Settings(data=data))
