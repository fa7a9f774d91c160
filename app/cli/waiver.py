"""`temper waiver`: add, list and end waivers. Each change is recorded in the audit log."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing_database import open_existing_database
from app.cli.listing import print_stored_rows, to_datetime
from app.config import Settings
from app.events.kinds import PersonDid
from app.runs.waiver_changes import WaiverSpec, create_waiver, end_waiver
from app.store import audit, waivers
from app.store.clock import database_time
from app.store.db import open_database
from app.store.waivers import WaiverRow


def add_waiver(settings: Settings, wish: WaiverSpec) -> None:
    database = open_database(settings.database_location)
    with Session(database) as session, session.begin():
        row = create_waiver(session, wish, database_time(session), settings.hosts_folder)
        made, told = row.id, row.waiver.summary
    _record_waiver_change(database, wish.by, f"waiver add {made} {wish.rule}", told)
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
    print_stored_rows(settings, _format_waivers, "No waivers yet. Create one with temper waiver add.", as_json=as_json)


def _format_waivers(session: Session) -> list[WaiverLine]:
    now = database_time(session)
    return [_to_waiver_line(row, now) for row in waivers.list_waivers(session)]


def _to_waiver_line(row: WaiverRow, now: float) -> WaiverLine:
    wish = (row.id, row.rule, row.waiver.scope.label, row.state(now), row.until, row.owner, row.reason, row.ticket)
    return WaiverLine(*wish, row.by, to_datetime(row.ended_at), row.ended_why)


def revoke_waiver(settings: Settings, waiver: str, by: str, why: str) -> None:
    database = open_existing_database(settings)
    with Session(database) as session, session.begin():
        row = end_waiver(session, waiver, database_time(session), by=by, why=why)
        said = f"waiver {row.id} has ended: {row.rule} on {row.waiver.scope.label} is open again"
    _record_waiver_change(database, by, f"waiver end {waiver}", why)
    print(said)  # noqa: T201


def _record_waiver_change(database: Engine, who: str, did: str, detail: str) -> None:
    audit.record_audit_event(
        database,
        PersonDid(who=who, right="operator", via="terminal", source="", did=did, status=0, detail=detail[:300]),
    )
