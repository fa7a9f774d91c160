"""Suspend the idle queue between runs, so that its threads do not poll the database."""

import asyncio
import time
from collections.abc import Callable

from app.loop.durable_run_queue import DurableQueue
from app.store.background_task import PeriodicTask
from app.store.change_monitor import ChangeMonitor

QUIET = 10.0
"""Seconds without a run until the queue is suspended."""


class IdleQueueSuspender(PeriodicTask):
    name, consequence = "rests", "the queue is not looked at"
    every = 1.0
    """Seconds between checks, and the delay for runs of other processes on SQLite. Notices of other nodes and runs
    submitted here wake the queue at once."""

    def __init__(self, durable: DurableQueue, idle: Callable[[], bool], changes: ChangeMonitor) -> None:
        """`idle` returns True if every run has ended; it blocks."""
        self._durable, self._idle, self._changes = durable, idle, changes
        self._seen = self._looked_at = -1
        self._quiet_since: float | None = None

    async def suspend_or_launch_queue(self, now: float) -> None:
        version = self._looked_at = self._changes.version()
        if version == self._seen and not self._durable.awake:
            return
        if await asyncio.to_thread(self._idle):
            self._quiet_since = now if self._quiet_since is None else self._quiet_since
            if now - self._quiet_since >= QUIET:
                await self._durable.suspend_if_idle()
        else:
            self._quiet_since = None
            await self._durable.launch()
        self._seen = version

    async def _run_once(self) -> None:
        await self.suspend_or_launch_queue(time.monotonic())

    async def _wait_for_next(self) -> None:
        if self._durable.awake:
            await super()._wait_for_next()
        else:
            await self._changes.wait_for_change(self._looked_at, self.every)
