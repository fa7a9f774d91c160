"""Queries for what waits for a person: runs that ask, hosts that failed, findings that the roles left."""

from collections.abc import Collection, Iterator, Sequence

from sqlalchemy import case, func
from sqlmodel import Session, col, select

from app.events.record import Recorded, parse_line
from app.store.models import EventRow, RunRow

_ASKED = "approval.requested"
_SETTLED = (
    *("approval.refused", "approval.expired", "approval.edited"),
    *("attempt.failed", "action.applying", "reboot.announced"),
)
_AT_WORK = ("running", "paused")
AT_ONCE = 500
"""Names in one query, below every database's limit of parameters."""


def list_run_ids_awaiting_approval(session: Session) -> Sequence[str]:
    """Return the runs whose newest approval request nothing has settled. One of them may have its approvals already."""
    working = select(RunRow.id).where(col(RunRow.state).in_(_AT_WORK))
    asked = func.max(case((col(EventRow.kind) == _ASKED, EventRow.seq), else_=0))
    settled = func.max(case((col(EventRow.kind) == _ASKED, 0), else_=EventRow.seq))
    query = select(EventRow.run).where(col(EventRow.run).in_(working), col(EventRow.kind).in_((_ASKED, *_SETTLED)))
    return session.exec(query.group_by(col(EventRow.run)).having(asked > settled)).all()


def list_paused_runs(session: Session) -> Sequence[RunRow]:
    return session.exec(select(RunRow).where(RunRow.state == "paused")).all()


def read_newest_events(session: Session, chains: Collection[str], kind: str) -> dict[str, Recorded]:
    """Return the newest event of this kind in each run or rollout that has one."""
    return {one.run: one for one in _read_events(session, chains, (kind,))}


def read_escalation_and_deferral_events(session: Session, runs: Collection[str]) -> Iterator[Recorded]:
    """Yield, oldest first, each event of these runs that escalated or deferred a finding."""
    return _read_events(session, runs, ("item.escalated", "item.deferred"))


def _read_events(session: Session, chains: Collection[str], kinds: Sequence[str]) -> Iterator[Recorded]:
    names = sorted(chains)
    for start in range(0, len(names), AT_ONCE):
        some = col(EventRow.run).in_(names[start : start + AT_ONCE])
        query = select(EventRow).where(some, col(EventRow.kind).in_(kinds))
        for row in session.exec(query.order_by(col(EventRow.run), col(EventRow.seq))):
            yield parse_line(row.line, row.hash)
