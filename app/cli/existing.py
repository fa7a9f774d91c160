"""Open the database for commands that only read; never create one."""

from pathlib import Path

from sqlalchemy import Engine

from app.config import Settings
from app.errors import BadInput
from app.store.db import open_database


def is_there(settings: Settings) -> bool:
    return not isinstance(settings.database, Path) or settings.database.exists()


def nothing_there(settings: Settings) -> str:
    return f"There is nothing in {settings.data} yet: start a run with temper run, or name another folder with --data."


def existing_database(settings: Settings) -> Engine:
    if not is_there(settings):
        raise BadInput(nothing_there(settings))
    return open_database(settings.database)
