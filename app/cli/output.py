"""Output of commands: a line, rows as a table or JSON array, or a document for a file."""

import dataclasses
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text
from sqlmodel import Session

from app.cli.database_access import describe_missing_database, has_database
from app.config import Settings
from app.errors import BadInput
from app.store.db import open_and_migrate_database
from app.text.clean import clean_text

LONGEST, WIDE = 300, 2000
"""Maximum characters of a cell; table width when the output is not a terminal, so that a row is one line."""
STDOUT = "-"
Row = dict[str, Any]
"""The cells of a row by column; --json has the same names."""


def print_line(text: str, *, to_stderr: bool = False) -> None:
    """Print the text as it is: in one line, without markup."""
    Console(stderr=to_stderr).print(text, markup=False, highlight=False, soft_wrap=True)


def print_rows(rows: Sequence[Any], empty_message: str, *, as_json: bool) -> None:
    """Print rows, or dataclasses of one type with a column for each field; `empty_message` if there are none."""
    if as_json:
        return print_json(rows)
    if not rows:
        return print(empty_message)  # noqa: T201
    cells = [row if isinstance(row, Mapping) else dataclasses.asdict(row) for row in rows]
    table = Table(*(Column(name.replace("_", " "), overflow="fold") for name in cells[0]), box=None)
    for row in cells:
        table.add_row(*(Text(clean_text(format_cell(value), LONGEST)) for value in row.values()))
    return Console(highlight=False, width=None if sys.stdout.isatty() else WIDE).print(table)


def print_stored_rows(
    settings: Settings, read: Callable[[Session], Sequence[Any]], empty_message: str, *, as_json: bool = False
) -> None:
    """Print the rows that `read` returns from the database. Do not create a missing database."""
    if not has_database(settings):
        return print_rows([], describe_missing_database(settings), as_json=as_json)
    with Session(open_and_migrate_database(settings.database_path_or_url)) as session:
        rows = read(session)
    return print_rows(rows, empty_message, as_json=as_json)


def print_json(value: object) -> None:
    """Print JSON in ASCII, so that host and model text cannot send control sequences to the terminal."""
    json.dump(msgspec.to_builtins(value), sys.stdout, indent=1)
    sys.stdout.write("\n")


def format_cell(value: object) -> str:
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
            return ", ".join(map(format_cell, value)) or "—"
    return str(value)


def to_row(source: object, columns: Sequence[str], **own: Any) -> Row:
    """Return the attributes of `source` that the columns name, those in `_at` as times; `own` has what differs."""
    cells = {name: own[name] if name in own else getattr(source, name) for name in columns}
    return {name: to_datetime(value) if name.endswith("_at") else value for name, value in cells.items()}


def to_datetime(at: float | None) -> datetime | None:
    return None if at is None else datetime.fromtimestamp(at, UTC)


def write_output(pieces: Iterable[bytes], file_or_dash: str, default_file: str) -> None:
    """Write `pieces` to `file_or_dash` (stdout for `-`), or to the file `default_file` if that is empty."""
    if file_or_dash == STDOUT:
        sys.stdout.buffer.writelines(pieces)
        return
    path = Path(file_or_dash or default_file)
    try:
        with path.open("wb") as file:
            length = sum(map(file.write, pieces))
    except OSError as exc:
        raise BadInput(f"{path} cannot be written: {exc.strerror}. Choose another place with --out.") from exc
    print(f"{path}, {length} bytes")  # noqa: T201
