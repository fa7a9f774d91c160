"""Counts password attempts in the database, so that restarts keep the count and all nodes share it."""

from collections.abc import Mapping

from sqlalchemy import delete, update
from sqlmodel import Field, Session, SQLModel, case, col, select

from app.store.db import create_insert

WITHIN = 300.0
"""Length of the counting window in seconds."""


class LoginAttemptRow(SQLModel, table=True):
    __tablename__ = "attempt"

    key: str = Field(primary_key=True)
    tries: int
    since: float = Field(index=True)


def get_wait_seconds(session: Session, limit_by_key: Mapping[str, int], now: float) -> float:
    """Return the seconds until the next attempt is allowed; 0 if it is allowed now. Writes nothing."""
    rows = session.exec(select(LoginAttemptRow).where(col(LoginAttemptRow.key).in_(limit_by_key))).all()
    waits = (row.since + WITHIN - now for row in rows if row.tries >= limit_by_key[row.key])
    return max(0.0, max(waits, default=0.0))


def count_and_check_attempt(session: Session, limit_by_key: Mapping[str, int], now: float) -> bool:
    """Count an attempt, before the password check so that parallel ones count. Return whether limits allow it."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.since) <= now - WITHIN))
    return all(_increment_attempts(session, key, now) <= limit_by_key[key] for key in sorted(limit_by_key))


def uncount_attempt_without_password_check(session: Session, limit_by_key: Mapping[str, int]) -> None:
    """Take back an attempt that was counted and whose password could not be checked."""
    counted = update(LoginAttemptRow).where(col(LoginAttemptRow.key).in_(limit_by_key))
    session.execute(counted.values(tries=col(LoginAttemptRow.tries) - 1))


def clear_attempts(session: Session, limit_by_key: Mapping[str, int]) -> None:
    """Delete the counters after a correct password."""
    session.execute(delete(LoginAttemptRow).where(col(LoginAttemptRow.key).in_(limit_by_key)))


def _increment_attempts(session: Session, key: str, now: float) -> int:
    tries, since = col(LoginAttemptRow.tries), col(LoginAttemptRow.since)
    old = since <= now - WITHIN
    again = {"tries": case((old, 1), else_=tries + 1), "since": case((old, now), else_=since)}
    one = create_insert(session, LoginAttemptRow).values(key=key, tries=1, since=now)
    counted = one.on_conflict_do_update(index_elements=["key"], set_=again).returning(tries)
    return int(session.execute(counted).scalar_one())
