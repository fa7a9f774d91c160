"""The one connection that a request holds: whatever it asks on its way, deep down too, it asks by the same one.

Who holds one and waits for a second waits for others who do the same, and all of them wait for ever.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from sqlalchemy import Connection, Engine
from sqlmodel import Session


@dataclass
class _Held:
    session: Session
    now: bool = True
    """False once the request is over: a task that it began may live on."""


_HELD: ContextVar[_Held | None] = ContextVar("held", default=None)


@contextmanager
def held(session: Session) -> Iterator[None]:
    mine = _Held(session)
    _HELD.set(mine)
    try:
        yield
    finally:
        mine.now = False
        _HELD.set(None)


@contextmanager
def asking(database: Engine) -> Iterator[Session]:
    """For questions: nothing that is asked here is committed."""
    mine = _HELD.get()
    if mine and mine.now:
        yield mine.session
        return
    with Session(database, expire_on_commit=False) as session:
        yield session


@contextmanager
def connected(database: Engine) -> Iterator[Connection]:
    with asking(database) as session:
        yield session.connection()
