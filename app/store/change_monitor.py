"""Reports in microseconds whether anything was written since the last check, to save needless reads."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from sqlalchemy import Engine

from app.events.record import MACHINE, Recorded
from app.store.db import is_shared


class ChangeMonitor:
    """Counts writes. SQLite counts commits itself; on PostgreSQL this counts log notifications and calls of
    `signal_change`, which writers of other tables must make."""

    def __init__(self, database: Engine) -> None:
        self._changes, self._changed = 0, asyncio.Event()
        self._connection = None if is_shared(database) else database.raw_connection()
        if self._connection:
            self._connection.detach()  # data_version counts other connections' commits only, so this one never writes

    def version(self) -> int:
        """Return a number that changes with every commit of any process."""
        if self._connection is None:
            return self._changes
        cursor = self._connection.cursor()
        cursor.execute("PRAGMA data_version")  # reads memory shared by SQLite's processes
        [(version,)] = cursor.fetchall()
        return int(version)

    def signal_change(self) -> None:
        self._changes += 1
        self._changed.set()

    async def wait_for_change(self, version: int, seconds: float) -> None:
        """Return at once if there was a change after `version`, else once one is signalled, or after `seconds`."""
        if self.version() == version:
            self._changed.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._changed.wait()

    def on_written(self, batch: Sequence[Recorded]) -> None:
        """Signal a change unless the batch holds only samples, which nothing waits for."""
        if any(recorded.run != MACHINE for recorded in batch):
            self.signal_change()

    def on_written_elsewhere(self, run: str, _seq: int) -> None:
        if run != MACHINE:
            self.signal_change()

    def close(self) -> None:
        if self._connection:
            self._connection.close()
