"""The audit log: one hash chain, in which each line is written in the transaction that read its predecessor."""

import time

from sqlalchemy import Engine, func, text
from sqlmodel import Session, col, select

from app.events.kinds import PersonDid
from app.events.record import AUDIT, GENESIS, Recorded, read, record
from app.store import anchors
from app.store.db import shared
from app.store.models import EventRow


def note(database: Engine, event: PersonDid) -> Recorded:
    with Session(database) as session:
        _alone(session)
        newest = select(EventRow).where(EventRow.run == AUDIT).order_by(col(EventRow.seq).desc()).limit(1)
        last = session.exec(newest).first()
        line = record(AUDIT, last.seq + 1 if last else 1, time.time(), event, last.hash if last else GENESIS)
        kind = event.__struct_config__.tag
        session.add(EventRow(run=AUDIT, seq=line.seq, at=line.at, kind=str(kind), line=line.line, hash=line.hash))
        anchors.counted(session, line)
        session.commit()
    return line


def _alone(session: Session) -> None:
    """Lock the chain, since two writers would otherwise append to the same predecessor."""
    if shared(session.get_bind()):
        session.execute(select(func.pg_advisory_xact_lock(func.hashtext("temper audit"))))
    else:
        session.execute(text("BEGIN IMMEDIATE"))


def newest(session: Session, limit: int, before: int | None = None) -> list[Recorded]:
    wanted = select(EventRow).where(EventRow.run == AUDIT)
    if before is not None:
        wanted = wanted.where(col(EventRow.seq) < before)
    return [read(row.line, row.hash) for row in session.exec(wanted.order_by(col(EventRow.seq).desc()).limit(limit))]
