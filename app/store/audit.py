"""The audit log: one hash chain, in which each line is written in the transaction that read its predecessor."""

import time

from sqlalchemy import Engine, func, text
from sqlmodel import Session, col, select

from app.events.kinds import PersonDid
from app.events.record import AUDIT, GENESIS, Recorded, parse_line, record_event
from app.store import anchors
from app.store.db import is_shared
from app.store.models import EventRow


def record_audit_event(database: Engine, event: PersonDid) -> Recorded:
    with Session(database) as session:
        _lock_audit_chain(session)
        newest = select(EventRow).where(EventRow.run == AUDIT).order_by(col(EventRow.seq).desc()).limit(1)
        last = session.exec(newest).first()
        line = record_event(AUDIT, last.seq + 1 if last else 1, time.time(), event, last.hash if last else GENESIS)
        kind = event.__struct_config__.tag
        session.add(EventRow(run=AUDIT, seq=line.seq, at=line.at, kind=str(kind), line=line.line, hash=line.hash))
        anchors.record_chain_end(session, line)
        session.commit()
    return line


def _lock_audit_chain(session: Session) -> None:
    """Lock the chain, since two writers would otherwise append to the same predecessor."""
    if is_shared(session.get_bind()):
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("temper audit"))))
    else:
        session.execute(text("BEGIN IMMEDIATE"))


def list_audit_events(session: Session, limit: int, before: int | None = None) -> list[Recorded]:
    wanted = select(EventRow).where(EventRow.run == AUDIT)
    if before is not None:
        wanted = wanted.where(col(EventRow.seq) < before)
    return [
        parse_line(row.line, row.hash) for row in session.exec(wanted.order_by(col(EventRow.seq).desc()).limit(limit))
    ]
