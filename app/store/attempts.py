"""Counts password attempts in the database, so that restarts keep the count and all nodes share it."""

from collections.abc import Mapping

from sqlalchemy import delete
from sqlalchemy.dialects.postgresql import insert as insert_postgres
from sqlalchemy.dialects.sqlite import insert as insert_sqlite
from sqlmodel import Field, Session, SQLModel, case, col, select

from app.store.db import shared

WITHIN = 300.0
"""Length of the counting window in seconds."""


class AttemptRow(SQLModel, table=True):
    __tablename__ = "attempt"

    key: str = Field(primary_key=True)
    tries: int
    since: float = Field(index=True)


def wait(session: Session, limits: Mapping[str, int], now: float) -> float:
    """Return the seconds until the next attempt is allowed; 0 if it is allowed now. Writes nothing."""
    rows = session.exec(select(AttemptRow).where(col(AttemptRow.key).in_(limits))).all()
    return max((_left(row, now) for row in rows if row.tries >= limits[row.key]), default=0.0)


def count(session: Session, limits: Mapping[str, int], now: float) -> bool:
    """Count an attempt, before the password check so that parallel ones count. Return whether limits allow it."""
    session.execute(delete(AttemptRow).where(col(AttemptRow.since) <= now - WITHIN))
    return all(_counted(session, key, now) <= limits[key] for key in sorted(limits))


def forget(session: Session, limits: Mapping[str, int]) -> None:
    """Delete the counters after a correct password."""
    session.execute(delete(AttemptRow).where(col(AttemptRow.key).in_(limits)))


def _counted(session: Session, key: str, now: float) -> int:
    insert = insert_postgres if shared(session.connection()) else insert_sqlite
    tries, since = col(AttemptRow.tries), col(AttemptRow.since)
    old = since <= now - WITHIN
    again = {"tries": case((old, 1), else_=tries + 1), "since": case((old, now), else_=since)}
    one = insert(AttemptRow).values(key=key, tries=1, since=now)
    counted = one.on_conflict_do_update(index_elements=["key"], set_=again).returning(tries)
    return int(session.execute(counted).scalar_one())


def _left(row: AttemptRow, now: float) -> float:
    return max(0.0, row.since + WITHIN - now)
