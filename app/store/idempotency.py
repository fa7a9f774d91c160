"""Idempotency keys: a repeated request returns the run that the first one started."""

from sqlalchemy import delete
from sqlmodel import Field, Session, SQLModel, col

KEEP_SECONDS = 24 * 3600.0


class IdempotencyRow(SQLModel, table=True):
    __tablename__ = "idempotency"

    key: str = Field(primary_key=True)
    digest: str
    """SHA-256 of the request's body."""
    run: str
    at: float = Field(index=True)


def claim_key(session: Session, key: str, digest: str, run: str, now: float) -> IdempotencyRow:
    """Return the row of the key: a new one for `run`, or the existing one."""
    session.execute(delete(IdempotencyRow).where(col(IdempotencyRow.at) < now - KEEP_SECONDS))
    row = session.get(IdempotencyRow, key)
    if row is None:
        row = IdempotencyRow(key=key, digest=digest, run=run, at=now)
        session.add(row)
    return row
