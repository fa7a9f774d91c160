"""Proven fixes, offered to other hosts with the same files. Written by the transaction that appends to the log."""

import msgspec
from sqlalchemy import delete, update
from sqlmodel import Field, Index, LargeBinary, Session, SQLModel, col, select

from app.events.event_field_types import ProvenFix
from app.events.kinds import AttemptFailed, AttemptStarted, Event, FixProven, ItemEscalated, ItemPassed
from app.events.record import Recorded
from app.store.db import insert_once
from app.store.models import RunRow, create_row

MOST = 3
"""Maximum number of fixes considered for an attempt."""
NO_FAULT = ("interrupted", "engine", "over budget")
"""Causes of failure that do not count against the fix."""


class FixRow(SQLModel, table=True):
    __tablename__ = "fix"
    __table_args__ = (Index("fix_rule_seen", "rule", "seen"),)

    id: str = Field(primary_key=True)
    """RUN.RULE.ATTEMPT"""
    rule: str
    seen: str
    """Digest of the rules and of the files that decide the rule; a fix applies only to the same digest."""
    host: str
    played: bool
    """The host is simulated by a folder of files."""
    simulated: bool
    """The engines are simulated."""
    at: float
    body: bytes = Field(sa_type=LargeBinary)
    offers: int = 0
    held: int = 0


class FixFailureRow(SQLModel, table=True):
    """A fix that failed on a host; it is not offered there again."""

    __tablename__ = "fix_failure"

    fix: str = Field(primary_key=True)
    host: str = Field(primary_key=True)
    at: float
    reason: str


def list_fixes_proven_elsewhere(
    session: Session, run: RunRow, rule: str, deciding_files_digest: str, *, is_host_simulated: bool
) -> list[ProvenFix]:
    """Return fixes proven on other hosts that have not failed on this run's, most successful first.

    Fixes from simulated hosts are not offered to real hosts, nor those of simulated engines to runs with real ones.
    """
    failed = select(FixFailureRow.fix).where(FixFailureRow.host == run.host)
    query = select(FixRow).where(
        FixRow.rule == rule,
        FixRow.seen == deciding_files_digest,
        FixRow.host != run.host,
        col(FixRow.id).not_in(failed),
    )
    if not is_host_simulated:
        query = query.where(col(FixRow.played).is_(False))
    if not run.simulated:
        query = query.where(col(FixRow.simulated).is_(False))
    rows = session.exec(query.order_by(col(FixRow.held).desc(), col(FixRow.at).desc()).limit(MOST)).all()
    return [msgspec.json.decode(row.body, type=ProvenFix) for row in rows]


def project_fix(session: Session, recorded: Recorded, event: Event) -> None:
    match event:
        case FixProven(fix=fix):
            simulated = session.get_one(RunRow, recorded.run).simulated
            body = msgspec.json.encode(fix)
            insert_once(session, create_row(FixRow, fix, simulated=simulated, at=recorded.at, body=body))
        case AttemptStarted(offered=ProvenFix() as fix):
            _increment_fix_counter(session, fix.id, "offers")
        case ItemPassed(replayed=fix_id) if fix_id:
            _increment_fix_counter(session, fix_id, "held")
        case AttemptFailed(replayed=fix_id) if fix_id and event.cause not in NO_FAULT:
            _record_failure(session, recorded, fix_id, event.reason)
        case ItemEscalated(reopened=True):
            ours = col(FixRow.id).startswith(f"{recorded.run}.{event.rule}.", autoescape=True)
            session.execute(delete(FixRow).where(ours))
            if event.replayed:
                _record_failure(session, recorded, event.replayed, event.reason)


def _record_failure(session: Session, recorded: Recorded, fix_id: str, reason: str) -> None:
    host = session.get_one(RunRow, recorded.run).host
    insert_once(session, FixFailureRow(fix=fix_id, host=host, at=recorded.at, reason=reason))


def _increment_fix_counter(session: Session, fix_id: str, column: str) -> None:
    session.flush()
    session.execute(update(FixRow).where(col(FixRow.id) == fix_id).values({column: getattr(FixRow, column) + 1}))
