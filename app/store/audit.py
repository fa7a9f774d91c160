"""The audit log: one hash chain, in which each line is written in the transaction that read its predecessor."""

from sqlalchemy import Engine
from sqlmodel import Field, Session, SQLModel, col, select

from app.events.kinds import AuditedRequest
from app.events.record import AUDIT, GENESIS, Recorded, build_recorded_event, parse_line
from app.store.database_clock import database_time
from app.store.db import lock_chain
from app.store.event_batch_writer import to_columns
from app.store.models import EventRow
from app.store.run_queries import read_last_link


class ChainEndRow(SQLModel, table=True):
    """The last seq and hash of a chain, written in the transaction that appends the line."""

    __tablename__ = "chain_end"

    chain: str = Field(primary_key=True)
    seq: int
    hash: str


class SealRow(SQLModel, table=True):
    """An evidence pack that the audit log already names, so that each pack is recorded once."""

    __tablename__ = "seal"

    of: str = Field(primary_key=True)
    digest: str = Field(primary_key=True)


def read_recorded_audit_chain_end(session: Session, chain: str) -> tuple[int, str] | None:
    """Return seq and hash of the chain's last line, or None if none was recorded."""
    row = session.get(ChainEndRow, chain)
    return (row.seq, row.hash) if row else None


def has_seal(session: Session, subject: str, digest: str) -> bool:
    return session.get(SealRow, (subject, digest)) is not None


def record_audit_event(database: Engine, event: AuditedRequest) -> Recorded:
    with Session(database) as session:
        lock_chain(session, AUDIT)
        return _append_to_locked_audit_chain_and_commit(session, event)


def append_seal_once(database: Engine, event: AuditedRequest, subject: str, digest: str) -> Recorded | None:
    """Append the line and return it, or None if `digest` of `subject` was sealed before, also by another process."""
    with Session(database) as session:
        lock_chain(session, AUDIT)
        if has_seal(session, subject, digest):
            return None
        session.merge(SealRow(of=subject, digest=digest))
        return _append_to_locked_audit_chain_and_commit(session, event)


def _append_to_locked_audit_chain_and_commit(session: Session, event: AuditedRequest) -> Recorded:
    """Append the line and commit."""
    seq, previous = read_last_link(session, AUDIT) or (0, GENESIS)
    line = build_recorded_event(AUDIT, seq + 1, database_time(session), event, previous)
    session.add(EventRow(**to_columns(line)))
    session.merge(ChainEndRow(chain=AUDIT, seq=line.seq, hash=line.hash))
    session.commit()
    return line


def list_audit_events(session: Session, limit: int, before: int | None = None) -> list[Recorded]:
    wanted = select(EventRow).where(EventRow.run == AUDIT)
    if before is not None:
        wanted = wanted.where(col(EventRow.seq) < before)
    rows = session.exec(wanted.order_by(col(EventRow.seq).desc()).limit(limit))
    return [parse_line(row.line, row.hash) for row in rows]
