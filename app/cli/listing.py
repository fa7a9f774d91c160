"""Print rows as a table or, with --json, as one JSON array."""

import dataclasses
import json
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from sqlmodel import Session

from app.cli.existing_database import describe_missing_database, has_database
from app.config import Settings
from app.store.db import open_database
from app.text.clean import clean_text

LONGEST, WIDE = 300, 2000
"""Maximum characters of a cell; table width when the output is not a terminal, so that a row is one line."""


def print_rows(rows: Sequence[Any], nothing: str, *, as_json: bool) -> None:
    """Print dataclasses of one type with a column for each field, or `nothing` if there are no rows."""
    if as_json:
        return print_json(rows)
    if not rows:
        return print(nothing)  # noqa: T201
    fields = [field.name for field in dataclasses.fields(rows[0])]
    table = Table(*(Column(name.replace("_", " "), overflow="fold") for name in fields), box=None)
    for row in rows:
        table.add_row(*(Text(clean_text(format_value(getattr(row, name)), LONGEST)) for name in fields))
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE).print(table)


def print_stored_rows(
    settings: Settings, read: Callable[[Session], Sequence[Any]], nothing: str, *, as_json: bool = False
) -> None:
    """Print the rows that `read` returns from the database. Do not create a missing database."""
    if not has_database(settings):
        return print_rows([], describe_missing_database(settings), as_json=as_json)
    with Session(open_database(settings.database_location)) as session:
        rows = read(session)
    return print_rows(rows, nothing, as_json=as_json)


def print_json(value: object) -> None:
    """Print JSON in ASCII, so that host and model text cannot send control sequences to the terminal."""
    json.dump(msgspec.to_builtins(value), sys.stdout, indent=1)
    sys.stdout.write("\n")


def format_value(value: object) -> str:
    match value:
        case None:
            return "—"
        case bool():
            return "yes" if value else "no"
        case float():
            return f"{value:.0f}"
        case datetime():
            return value.strftime("%Y-%m-%d %H:%M UTC")
        case tuple():
            return ", ".join(map(format_value, value)) or "—"
    return str(value)


def to_datetime(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)
