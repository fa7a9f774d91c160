"""Whether anything was written since one looked last: known in microseconds, so that nobody reads in vain."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Engine

from app.events.record import MACHINE, Recorded
from app.store.db import shared


class Changes:
    """SQLite tells of every commit itself. On PostgreSQL it goes by the log, whichever node wrote it, and by `tell`:
    of what is written beside the log, somebody has to tell."""

    def __init__(self, database: Engine) -> None:
        self._told, self._more = 0, asyncio.Event()
        self._connection = None if shared(database) else database.raw_connection()
        if self._connection:
            self._connection.detach()  # a connection sees others' commits alone, so nobody writes by this one

    def version(self) -> int:
        """Another one after every commit, of this process or of any other."""
        if self._connection is None:
            return self._told
        cursor = self._connection.cursor()
        cursor.execute("PRAGMA data_version")  # read from memory that SQLite's processes share
        [(version,)] = cursor.fetchall()
        return int(version)

    def tell(self) -> None:
        self._told += 1
        self._more.set()

    async def beyond(self, version: int, seconds: float) -> None:
        """Return as soon as more than `version` is told of, else after so long."""
        self._more.clear()
        if self._connection or self._told == version:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._more.wait(), seconds)

    def written(self, batch: Sequence[Recorded]) -> None:
        """Samples change nothing that anybody looks for."""
        if any(recorded.run != MACHINE for recorded in batch):
            self.tell()

    def elsewhere(self, run: str, _seq: int) -> None:
        if run != MACHINE:
            self.tell()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
