"""`temper waiver`: add, list and end waivers. Each change is recorded in the audit log."""

import time
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.listing import list_stored, moment
from app.config import Settings
from app.events.kinds import PersonDid
from app.runs.waive import WaiverWish, end_waiver, waive
from app.store import audit, waivers
from app.store.db import open_database
from app.store.waivers import WaiverRow


def add_waiver(settings: Settings, wish: WaiverWish) -> None:
    database = open_database(settings.database)
    with Session(database) as session, session.begin():
        row = waive(session, wish, time.time(), settings.hosts)
        made, told = row.id, row.waiver.told
    _note(database, wish.by, f"waiver add {made} {wish.rule}", told)
    print(f"waiver {made}: {told}")  # noqa: T201


@dataclass(frozen=True)
class WaiverLine:
    id: str
    rule: str
    where: str
    state: str
    until: str
    owner: str
    reason: str
    ticket: str
    by: str
    ended_at: datetime | None
    ended_why: str


def list_waivers(settings: Settings, *, as_json: bool = False) -> None:
    nothing, now = "There is no waiver: temper waiver add makes one.", time.time()
    list_stored(
        settings, lambda session: [_line(row, now) for row in waivers.waivers(session)], nothing, as_json=as_json
    )


def _line(row: WaiverRow, now: float) -> WaiverLine:
    wish = (row.id, row.rule, row.waiver.scope.told, row.state(now), row.until, row.owner, row.reason, row.ticket)
    return WaiverLine(*wish, row.by, moment(row.ended_at), row.ended_why)


def take_back(settings: Settings, waiver: str, by: str, why: str) -> None:
    database = existing_database(settings)
    with Session(database) as session, session.begin():
        row = end_waiver(session, waiver, time.time(), by=by, why=why)
        said = f"waiver {row.id} has ended: {row.rule} on {row.waiver.scope.told} is open as any other"
    _note(database, by, f"waiver end {waiver}", why)
    print(said)  # noqa: T201


def _note(database: Engine, who: str, did: str, detail: str) -> None:
    audit.note(
        database,
        PersonDid(who=who, right="operator", via="terminal", source="", did=did, status=0, detail=detail[:300]),
    )
