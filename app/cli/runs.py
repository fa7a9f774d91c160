"""`temper runs`: the runs of a data folder, newest first."""

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session

from app.cli.existing import is_there, nothing_there
from app.cli.listing import listed, moment
from app.config import Settings
from app.store.db import open_database
from app.store.run_list import RunSearch, page


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
    if not is_there(settings):
        return listed([], nothing_there(settings), as_json=as_json)
    with Session(open_database(settings.database)) as session:
        rows = [
            RunLine(
                row.id,
                row.name,
                tuple(row.tags.split()),
                row.state,
                row.host,
                row.skill,
                row.mode,
                row.simulated,
                row.findings,
                row.passed,
                row.escalated,
                row.deferred,
                row.skipped,
                row.waived,
                row.rolled_back,
                moment(row.queued_at),
                moment(row.ended_at),
            )
            for row in page(session, asked, None, most).rows
        ]
    return listed(rows, "There is no such run: start one with temper run.", as_json=as_json)
