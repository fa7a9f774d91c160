"""`temper tidy`: shrink old runs to their evidence and delete old samples. `--keep-days` does it daily."""

import getpass
import time
from datetime import UTC, datetime

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing import existing_database
from app.config import Settings
from app.errors import TemperError
from app.evidence.key import Key
from app.evidence.notary import open_notary
from app.evidence.shrunk import shrink
from app.store import tidy as store
from app.store.events import EventStore
from app.store.models import RunRow

DONE, LEFT = 0, 2
DAY = 24 * 3600.0


def tidy(settings: Settings, days: float, *, dry_run: bool) -> int:
    """Shrink runs that ended more than `days` ago. Return LEFT if a run could not be shrunk."""
    database, before = existing_database(settings), time.time() - days * DAY
    with Session(database, expire_on_commit=False) as session:
        due = store.due(session, before)
    if dry_run:
        for row in due:
            _say(f"would shrink run {row.id} on {row.host}, {row.state} {_when(row.ended_at)}")
        _say(f"{len(due)} runs, and samples from before {_when(before)}")
        return DONE
    _finish(database)
    key = open_notary(settings.data, database).key
    done = [_shrunk(database, row, key) for row in due]
    EventStore(database).forget_samples(before)
    _say(f"{sum(done)} runs shrunk, samples from before {_when(before)} forgotten")
    return DONE if all(done) else LEFT


def _finish(database: Engine) -> None:
    """Finish the deletions of an interrupted tidy."""
    with Session(database) as session:
        runs = store.unswept(session)
    for run in runs:
        _say(f"run {run}: {store.sweep(database, run)} more events went")


def _shrunk(database: Engine, row: RunRow, key: Key) -> bool:
    try:
        done = shrink(database, row.id, key, getpass.getuser(), time.time())
    except TemperError as exc:
        _say(f"run {row.id} stays whole: {exc}")
        return False
    if done:
        _say(f"run {row.id} on {row.host}: {done.gone} events went, evidence of {done.kept} bytes is kept")
    return True


def _say(line: str) -> None:
    Console().print(line, highlight=False, soft_wrap=True, markup=False)


def _when(at: float | None) -> str:
    return datetime.fromtimestamp(at or 0.0, UTC).strftime("%Y-%m-%d %H:%M")
