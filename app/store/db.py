"""Opening the database: WAL, migrations, and a clear word where it cannot be used."""

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy import Engine, create_engine, event, text
from sqlalchemy.exc import DatabaseError

from app.config import ROOT
from app.errors import Unusable

HEAD = "0006"
"""The newest migration. A database that stands there is opened without loading Alembic."""


def open_database(path: Path) -> Engine:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        engine = create_engine(f"sqlite:///{path}", connect_args={"timeout": 15})
        event.listen(engine, "connect", _pragmas)
        _bring_up(engine, path)
    except (OSError, DatabaseError) as exc:
        raise Unusable(f"cannot use {path}: {_why(exc)}. Choose a writable folder with --data.") from exc
    return engine


def _pragmas(connection: sqlite3.Connection, _record: Any) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "foreign_keys=ON", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}")


def _why(exc: Exception) -> str:
    return str(getattr(exc, "orig", None) or exc)


def _bring_up(engine: Engine, path: Path) -> None:
    found = revision(engine)
    if found == HEAD:
        return
    if found and found not in known():
        raise Unusable(f"{path} was made by a newer Temper ({found}): upgrade temper, or choose another --data folder.")
    migrate(engine)


def revision(engine: Engine) -> str | None:
    with engine.connect() as connection:
        if not engine.dialect.has_table(connection, "alembic_version"):
            return None
        return connection.execute(text("select version_num from alembic_version")).scalar()


def known() -> set[str]:
    return {path.name.split("_")[0] for path in (ROOT / "migrations" / "versions").glob("*.py")}


def migrate(engine: Engine) -> None:
    from alembic import command  # noqa: PLC0415  0.4 s of import that an up-to-date database does not need
    from alembic.config import Config  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(ROOT / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
