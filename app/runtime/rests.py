"""Between runs the queue rests: its threads would ask the database again and again for work that is not there."""

import asyncio
import time
from collections.abc import Callable

from app.loop.durable import Durable
from app.store.rounds import Rounds

QUIET = 10.0
"""Seconds without a run after which it rests."""


class Rests(Rounds):
    """For who has the queue to himself."""

    name, without = "rests", "the queue is not looked at"
    every = 1.0
    """As late as a run is noticed that another process asked for; one that was asked for here wakes the queue."""

    def __init__(self, durable: Durable, idle: Callable[[], bool], version: Callable[[], int]) -> None:
        """`idle`: every run has ended, blocking; `version`: another one whenever the database has changed."""
        self._durable, self._idle, self._version = durable, idle, version
        self._seen = -1
        self._quiet_since: float | None = None

    async def look(self, now: float) -> None:
        version = self._version()
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
