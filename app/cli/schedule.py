"""`temper schedule`: what is done on a host when nobody asks."""

import time
from datetime import UTC, datetime

from rich.console import Console
from rich.table import Table
from rich.text import Text
from sqlmodel import Session

from app.background.schedules.wanted import Wanted, handled, schedule
from app.config import Settings
from app.store import schedules
from app.store.db import open_database
from app.text.clean import clean


def add_schedule(settings: Settings, wanted: Wanted) -> None:
    row = schedule(wanted, time.time(), settings.hosts)
    said = f"schedule {row.id}: {row.mode} on {row.host}, next {_when(row.next_at)}; a server or worker has to run then"
    with Session(open_database(settings.database)) as session, session.begin():
        session.add(row)
    Console(highlight=False).print(said)


def list_schedules(settings: Settings) -> None:
    table = Table("id", "host", "mode", "when", "next", "last")
    with Session(open_database(settings.database)) as session:
        for row in schedules.schedules(session):
            when = f"{row.cron} {row.zone}"
            following = _when(row.next_at) if row.enabled else "paused"
            table.add_row(row.id, row.host, row.mode, Text(when), following, Text(clean(row.outcome, 300)))
    Console(highlight=False).print(table)


def handle_schedule(settings: Settings, wanted: str, verb: str) -> None:
    with Session(open_database(settings.database)) as session, session.begin():
        handled(session, wanted, verb, time.time())
    Console(highlight=False).print(f"schedule {wanted}: {verb}d")


def _when(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")
