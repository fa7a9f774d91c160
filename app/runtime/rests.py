"""Between runs the queue rests: its threads would ask the database again and again for work that is not there."""

import asyncio
import logging
import time
from collections.abc import Callable

from app.loop.durable import Durable
from app.store.db import AWAY, why

log = logging.getLogger(__name__)

LOOK_EVERY = 1.0
"""As late as a run is noticed that another process asked for; one that was asked for here wakes the queue itself."""
QUIET = 10.0
"""Seconds without a run after which it rests."""


class Rests:
    """For who has the queue to himself."""

    def __init__(self, durable: Durable, idle: Callable[[], bool], version: Callable[[], int]) -> None:
        """`idle`: every run has ended, blocking; `version`: another one whenever the database has changed."""
        self._durable, self._idle, self._version = durable, idle, version
        self._seen = -1
        self._quiet_since: float | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._go_on(), name="rests")

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})

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

    async def _go_on(self) -> None:
        while True:
            try:
                await self.look(time.monotonic())
            except AWAY as exc:
                log.warning("the queue is not looked at: %s", why(exc))
            except Exception:
                log.exception("a look at the queue failed by a fault of ours")
            await asyncio.sleep(LOOK_EVERY)
