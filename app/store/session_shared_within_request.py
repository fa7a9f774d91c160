"""The one database session of a request, which every query within it reuses.

A request that waits for a second connection while it has one can deadlock with others that do the same.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlmodel import Session


@dataclass
class _RequestSession:
    session: Session
    now: bool = True
    """False after the request, which a task started by it may outlive."""


_HELD: ContextVar[_RequestSession | None] = ContextVar("held", default=None)


@contextmanager
def share_session_within_request(session: Session) -> Iterator[None]:
    mine = _RequestSession(session)
    _HELD.set(mine)
    try:
        yield
    finally:
        mine.now = False
        _HELD.set(None)


@contextmanager
def open_read_session(database: Engine) -> Iterator[Session]:
    """Yield the request's session, or a new one outside a request. For reads: nothing is committed."""
    mine = _HELD.get()
    if mine and mine.now:
        yield mine.session
        return
    with Session(database, expire_on_commit=False) as session:
        yield session


@contextmanager
def open_read_connection(database: Engine) -> Iterator[Connection]:
    with open_read_session(database) as session:
        yield session.connection()
