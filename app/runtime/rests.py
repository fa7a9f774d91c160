"""Between runs the queue rests: its threads would ask the database again and again for work that is not there."""

import asyncio
import time
from collections.abc import Callable

from app.loop.durable import Durable
from app.store.changes import Changes
from app.store.rounds import Rounds

QUIET = 10.0
"""Seconds without a run after which it rests."""


class Rests(Rounds):
    name, without = "rests", "the queue is not looked at"
    every = 1.0
    """On SQLite, as late as a run is noticed that another process asked for; another node's notice tells at once, and
    what was asked for here wakes the queue."""

    def __init__(self, durable: Durable, idle: Callable[[], bool], changes: Changes) -> None:
        """`idle`: every run has ended, blocking."""
        self._durable, self._idle, self._changes = durable, idle, changes
        self._seen = self._looked_at = -1
        self._quiet_since: float | None = None

    async def look(self, now: float) -> None:
        version = self._looked_at = self._changes.version()
        if version == self._seen and not self._durable.awake:
            return
        if await asyncio.to_thread(self._idle):
            self._quiet_since = now if self._quiet_since is None else self._quiet_since
            if now - self._quiet_since >= QUIET:
                await self._durable.rest()
        else:
            self._quiet_since = None
            await self._durable.launch()
        self._seen = version

    async def _round(self) -> None:
        await self.look(time.monotonic())

    async def _until_next(self) -> None:
        if self._durable.awake:
            await super()._until_next()
        else:
            await self._changes.beyond(self._looked_at, self.every)
