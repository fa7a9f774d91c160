"""Open the database for commands that only read; never create one."""

from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from app.config import Settings
from app.errors import BadInput
from app.store import queries
from app.store.db import open_database


def has_database(settings: Settings) -> bool:
    return not isinstance(settings.database_location, Path) or settings.database_location.exists()


def describe_missing_database(settings: Settings) -> str:
    return f"There is nothing in {settings.data} yet: start a run with temper run, or name another folder with --data."


def open_existing_database(settings: Settings) -> Engine:
    if not has_database(settings):
        raise BadInput(describe_missing_database(settings))
    return open_database(settings.database_location)


def find_run(database: Engine, wanted: str) -> str:
    with Session(database) as session:
        found = [row.id for row in queries.find_runs_by_prefix(session, wanted)]
        newest = queries.find_newest_run(session)
        last = newest.id if newest else None
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{wanted!r} matches {', '.join(found)}: give more characters of the id.")
    if last is None:
        raise BadInput("there is no run in this data folder yet: start one with temper run.")
    raise BadInput(f"there is no run {wanted!r}: the newest is {last}.")
