"""`temper runs`: list runs, newest first."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from app.cli.database_access import find_run, open_existing_database, record_action
from app.cli.output import print_stored_rows, to_datetime
from app.config import Settings
from app.runs.labels import set_run_labels
from app.store.models import RunRow
from app.store.run_list import RunSearch, read_run_page


@dataclass(frozen=True)
class RunLine:
    run: str
    name: str
    tags: tuple[str, ...]
    state: str
    host: str
    skill: str
    mode: str
    simulated: bool
    findings: int
    passed: int
    escalated: int
    deferred: int
    skipped: int
    waived: int
    rolled_back: int
    queued_at: datetime | None
    ended_at: datetime | None


def list_runs(settings: Settings, asked: RunSearch, most: int, *, as_json: bool) -> None:
    nothing = "No runs found. Start one with temper run."
    print_stored_rows(
        settings,
        lambda found: [_to_run_line(row) for row in read_run_page(found, asked, None, most).rows],
        nothing,
        as_json=as_json,
    )


def _to_run_line(row: RunRow) -> RunLine:
    wanted = (row.id, row.name, tuple(row.tags.split()), row.state, row.host, row.skill, row.mode, row.simulated)
    counted = (row.findings, row.passed, row.escalated, row.deferred, row.skipped, row.waived, row.rolled_back)
    return RunLine(*wanted, *counted, to_datetime(row.queued_at), to_datetime(row.ended_at))


def name_run(settings: Settings, wanted: str, name: str | None, tags: Sequence[str] | None) -> None:
    database = open_existing_database(settings)
    run = find_run(database, wanted)
    with Session(database) as session, session.begin():
        row = session.get_one(RunRow, run)
        set_run_labels(row, name, tags)
        called, tagged = row.name, row.tags
    record_action(database, f"name {run}", right="admin")
    print(f"Run {run} is called {called or 'nothing'}; tags: {tagged or 'none'}.")  # noqa: T201
