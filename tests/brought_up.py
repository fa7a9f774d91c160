"""A test's new database is a copy of one that was brought up by the same migrations, once in a whole run of the tests.

Else each lays out its tables and the queue's anew. What is about the way there names its file otherwise
(tests/store/test_migrations.py), starts an interpreter of its own (tests/test_wheel.py), begins with an older file
(tests/upgrade) or asks for an empty database (tests/nodes).
"""

import secrets
import shutil
from contextlib import suppress
from pathlib import Path

from dbos import DBOS
from sqlalchemy import Engine, event

from app.store.db import open_and_migrate_database

OURS, QUEUE = "ours", "dbos.sqlite"


def bring_up(folder: Path) -> None:
    """Both files of a data folder."""
    open_and_migrate_database(folder / OURS).dispose()
    DBOS.migrate(f"sqlite:///{folder / 'queue'}")
    (folder / "queue").rename(folder / QUEUE)


def bring_up_server(address: str) -> None:
    open_and_migrate_database(address).dispose()
    DBOS.migrate(address)


def copied_from(folder: Path) -> None:
    """From now on, each file of SQLite that is not there when this process, or one forked from it, connects to it."""

    @event.listens_for(Engine, "do_connect")
    def begun_as_a_copy(dialect, _record, words, _how):
        file = Path(words[0]) if dialect.name == "sqlite" else Path()
        if file.suffix == ".sqlite" and file.parent.is_dir() and not file.exists():
            _lay(folder / (QUEUE if file.name == QUEUE else OURS), file)


def _lay(brought_up: Path, file: Path) -> None:
    """Of several that begin at the same moment, one."""
    own = file.with_suffix(f".{secrets.token_hex(4)}")
    shutil.copyfile(brought_up, own)
    with suppress(FileExistsError):
        file.hardlink_to(own)
    own.unlink()
