"""Commands for those who run Temper: people, API tokens, usage and the database."""

from pathlib import Path
from typing import Annotated

import typer

from app.cli.options import AsJson, Data
from app.config import Settings
from app.people.credential_expiry import DEFAULT_TOKEN_DAYS, LONGEST_TOKEN_DAYS

app = typer.Typer()
admin = typer.Typer(help="Manage the people who may sign in.", no_args_is_help=True)
app.add_typer(admin, name="admin")
token = typer.Typer(help="Manage API tokens.", no_args_is_help=True)
app.add_typer(token, name="token")
db = typer.Typer(help="Manage the database.", no_args_is_help=True)
app.add_typer(db, name="db")


@admin.command("create")
def person_create(
    name: Annotated[str, typer.Argument(help="Name for signing in; the audit log records it.")],
    right: Annotated[str, typer.Option(help="Right: viewer, operator or admin.")] = "admin",
    data: Data = Path("data"),
) -> None:
    """Create a person. Enter the password at the prompt, or pipe it in as one line."""
    from app.cli.people import ask_password_and_create_person

    ask_password_and_create_person(Settings(data=data), name, right)


@admin.command("list")
def person_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the people who may sign in."""
    from app.cli.people import list_people

    list_people(Settings(data=data), as_json=as_json)


@token.command("list")
def token_list(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the valid tokens and shared links. Their secrets are not stored."""
    from app.cli.people import list_tokens

    list_tokens(Settings(data=data), as_json=as_json)


@token.command("create")
def token_create(
    name: Annotated[str, typer.Argument(help="Owner of the token.")],
    right: Annotated[
        str, typer.Option(help="Right of the token: viewer, operator or admin, at most the owner's own right.")
    ] = "viewer",
    label: Annotated[str, typer.Option(help="Purpose of the token.")] = "",
    days: Annotated[
        float, typer.Option(min=0.01, max=LONGEST_TOKEN_DAYS, help="Days until the token expires.")
    ] = DEFAULT_TOKEN_DAYS,
    data: Data = Path("data"),
) -> None:
    """Create an API token and print it once. Use it as Authorization: Bearer TOKEN."""
    from app.cli.people import create_token

    create_token(Settings(data=data), name, right, label, days)


@app.command(name="usage")
def report_usage(
    since: Annotated[str, typer.Option(help="First day, such as 2026-11-01. Default: the first of this month.")] = "",
    until: Annotated[str, typer.Option(help="Last day.")] = "",
    per: Annotated[str, typer.Option(help="Period of each line: day or month.")] = "month",
    csv: Annotated[bool, typer.Option("--csv", help="Print comma-separated values for a spreadsheet.")] = False,
    data: Data = Path("data"),
    as_json: AsJson = False,
) -> None:
    """Show the usage of each person and API token. Usage is runs, tokens, GPU-seconds and joules."""
    from app.cli.people import print_usage

    print_usage(Settings(data=data), since, until, per, as_json=as_json, csv=csv)


@app.command(name="tidy")
def tidy_database(
    older_than: Annotated[float, typer.Option(min=0, help="Days since a run ended.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the effect, and change nothing.")] = False,
    data: Data = Path("data"),
) -> None:
    """Shrink old runs to their evidence. Exits with 0, or with 2 if a run could not be shrunk."""
    from app.cli.old_run_shrinking import shrink_old_runs_and_delete_samples

    raise typer.Exit(shrink_old_runs_and_delete_samples(Settings(data=data), older_than, dry_run=dry_run))


@app.command(name="backup")
def back_up_data(
    file: Annotated[Path, typer.Argument(help="File to write. An existing file of that name is replaced.")],
    data: Data = Path("data"),
) -> None:
    """Back up the data folder and database to one file. You can do this while runs are in progress."""
    from app.cli.backup import back_up

    back_up(Settings(data=data), file)


@app.command(name="restore")
def restore_data(
    file: Annotated[Path, typer.Argument(help="A file that temper backup wrote.")], data: Data = Path("data")
) -> None:
    """Restore a backup to an empty data folder. First checks the backup's digests, chains and keys."""
    from app.cli.backup import restore_backup

    restore_backup(Settings(data=data), file)


@app.command(name="nodes")
def list_nodes(data: Data = Path("data"), as_json: AsJson = False) -> None:
    """List the nodes of the database in TEMPER_DATABASE_URL. Exits with 0, or with 2 if no node works on runs."""
    from app.cli.postgresql_copy_and_node_list import print_nodes_and_get_exit_code_whether_any_works

    raise typer.Exit(print_nodes_and_get_exit_code_whether_any_works(Settings(data=data), as_json=as_json))


@db.command("copy")
def db_copy(data: Data = Path("data")) -> None:
    """Copy the SQLite database to PostgreSQL, and verify the copy. TEMPER_DATABASE_URL names the PostgreSQL."""
    from app.cli.postgresql_copy_and_node_list import copy_database

    copy_database(Settings(data=data))
