"""One clock for all nodes: the database's. What a node's own clock says is compared with nothing that others wrote."""

import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Engine, Float, cast, func, select
from sqlmodel import Session

from app.store.db import is_shared

TOO_FAR_OFF = 1.0
"""Seconds by which a node's own clock may differ from the database's before somebody should set it."""


def select_database_time() -> ColumnElement[float]:
    """Return an SQL expression for the time of evaluation, whenever the transaction began."""
    return cast(func.extract("epoch", func.clock_timestamp()), Float)


def database_time(session: Session) -> float:
    """Return the time that all nodes agree on; a database in a file has this process's clock."""
    return (
        session.execute(select(select_database_time())).scalar_one() if is_shared(session.get_bind()) else time.time()
    )


class DatabaseClock:
    """The database's time, kept between two of its answers by this process's monotonic clock.

    Before the first answer, and with SQLite, it is the process's own clock.
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._wall, self._steady = wall, steady
        self._ahead: float | None = None
        """Seconds by which the database's time is ahead of `steady`."""
        self._heard_at = 0.0

    def now(self) -> float:
        return self._wall() if self._ahead is None else self._steady() + self._ahead

    @property
    def own_clock_seconds_ahead(self) -> float:
        """Seconds that this node's own clock is ahead of the database's; below zero, behind it."""
        return self._wall() - self.now()

    @property
    def seconds_since_answer(self) -> float:
        """Seconds since the database last answered; 0 before the first answer."""
        return 0.0 if self._ahead is None else self._steady() - self._heard_at

    def note_question_and_get_handler_of_answered_time(self) -> Callable[[float], None]:
        """Return a callback for the database's answer. The time that the answer took does not count as an offset."""
        asked = self._steady()

        def accept_database_time(at: float) -> None:
            self._heard_at = self._steady()
            earliest, latest = at - self._heard_at, at - asked
            # Keep the old offset if the answer allows it: a slow answer is imprecise, and time must not jump for it.
            known = (earliest + latest) / 2 if self._ahead is None else self._ahead
            self._ahead = min(max(known, earliest), latest)

        return accept_database_time


def open_clock(database: Engine) -> DatabaseClock:
    clock = DatabaseClock()
    if is_shared(database):
        accept_database_time = clock.note_question_and_get_handler_of_answered_time()
        with Session(database) as session:
            accept_database_time(database_time(session))
    return clock
