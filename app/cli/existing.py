"""Open the database for commands that only read; never create one."""

from pathlib import Path

from sqlalchemy import Engine

from app.config import Settings
from app.errors import BadInput
from app.store.db import open_database


def has_database(settings: Settings) -> bool:
    return not isinstance(settings.database_location, Path) or settings.database_location.exists()


def describe_missing_database(settings: Settings) -> str:
    return f"There is nothing in {settings.data} yet: start a run with temper run, or name another folder with --data."


def open_existing_database(settings: Settings) -> Engine:
    if not has_database(settings):
        raise BadInput(describe_missing_database(settings))
    return open_database(settings.database_location)
