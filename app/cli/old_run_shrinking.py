"""`temper tidy`: shrink old runs to their evidence and delete old samples. `--keep-days` does it daily."""

import getpass
import time
from datetime import UTC, datetime

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.database_access import open_existing_database
from app.cli.output import print_line
from app.config import Settings
from app.errors import TemperError
from app.evidence.notary import open_notary
from app.evidence.run_shrinking import store_evidence_and_delete_deltas_unless_shrunk
from app.evidence.signing_key import SigningKey
from app.store import shrunk_runs as store
from app.store.events import EventStore
from app.store.models import RunRow

DONE, LEFT = 0, 2
DAY = 24 * 3600.0


def shrink_old_runs_and_delete_samples(settings: Settings, days: float, *, dry_run: bool) -> int:
    """Shrink runs that ended more than `days` ago. Return LEFT if a run could not be shrunk."""
    database, before = open_existing_database(settings), time.time() - days * DAY
    with Session(database, expire_on_commit=False) as session:
        due = store.list_runs_to_shrink(session, before)
    if dry_run:
        for row in due:
            print_line(f"would shrink run {row.id} on {row.host}, {row.state} {_format_time_or_epoch(row.ended_at)}")
        print_line(f"{len(due)} runs, and samples from before {_format_time_or_epoch(before)}")
        return DONE
    _finish_earlier_tidy(database)
    key = open_notary(settings.data, database).key
    done = [_shrink_run_or_return_false_on_error(database, row, key) for row in due]
    EventStore(database).delete_old_samples_not_kept_for_good(before)
    print_line(f"runs shrunk: {sum(done)}; samples from before {_format_time_or_epoch(before)} deleted")
    return DONE if all(done) else LEFT


def _finish_earlier_tidy(database: Engine) -> None:
    """Finish the deletions of an interrupted tidy."""
    with Session(database) as session:
        runs = store.list_shrunk_runs_with_deltas(session)
    for run in runs:
        print_line(f"run {run}: {store.delete_finished_turn_deltas(database, run)} more events deleted")


def _shrink_run_or_return_false_on_error(database: Engine, row: RunRow, key: SigningKey) -> bool:
    try:
        done = store_evidence_and_delete_deltas_unless_shrunk(database, row.id, key, getpass.getuser(), time.time())
    except TemperError as exc:
        print_line(f"run {row.id} was not shrunk: {exc}")
        return False
    if done:
        print_line(f"run {row.id} on {row.host}: events deleted: {done.gone}; evidence kept: {done.kept} bytes")
    return True


def _format_time_or_epoch(at: float | None) -> str:
    return datetime.fromtimestamp(at or 0.0, UTC).strftime("%Y-%m-%d %H:%M")
