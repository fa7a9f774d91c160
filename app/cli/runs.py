"""`temper runs`: list runs, newest first."""

from dataclasses import dataclass
from datetime import datetime

from app.cli.listing import list_stored, moment
from app.config import Settings
from app.store.models import RunRow
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
    nothing = "There is no such run: start one with temper run."
    list_stored(
        settings, lambda found: [_line(row) for row in page(found, asked, None, most).rows], nothing, as_json=as_json
    )


def _line(row: RunRow) -> RunLine:
    said = (row.id, row.name, tuple(row.tags.split()), row.state, row.host, row.skill, row.mode, row.simulated)
    counted = (row.findings, row.passed, row.escalated, row.deferred, row.skipped, row.waived, row.rolled_back)
    return RunLine(*said, *counted, moment(row.queued_at), moment(row.ended_at))
