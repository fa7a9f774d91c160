"""An accepted run starts: its first event accepts it, and what the queue does not know is offered to it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress

from app.loop.durable_queue import DurableQueue
from app.store.background_task import PeriodicTask
from app.store.change_monitor import ChangeMonitor
from app.store.events import EventStore


class Offers(PeriodicTask):
    """Gives the queue every accepted run that it does not know: the log's commit alone accepts a run.

    The queue holds only the next run of each host: it does not keep the order of runs that arrive within one tick of
    its clock, or that are offered again after their node died.
    """

    name, consequence = "offers", "queued runs are not offered to the queue"
    every = 1.0

    def __init__(
        self, store: EventStore, durable: DurableQueue, changes: ChangeMonitor, leads: Callable[[], bool]
    ) -> None:
        self._store, self._durable, self._changes, self._leads = store, durable, changes, leads
        self._known: set[str] = set()
        """Queued runs that the queue knows; it is not asked about them again."""
        self._ordered = self._offered = 0
        """How often this node was asked to look, and how many of these requests are done."""
        self._seen = -1
        self._hurry = asyncio.Event()

    def look_now(self) -> None:
        """Offer runs that were ordered here or may follow a run that ended here, without waiting for the leader."""
        self._ordered += 1
        self._hurry.set()

    async def offer_runs(self) -> None:
        """Give the queue each host's next run, where it does not know that one."""
        queued = await asyncio.to_thread(self._store.find_next)
        if new := [(run, host) for run, host in queued if run not in self._known]:
            there = await self._durable.find_known([run for run, _ in new])
            for run, host in new:
                if run not in there:
                    await self._durable.enqueue(run, host)
                self._known.add(run)
        self._known &= {run for run, _ in queued}

    async def _run_once(self) -> None:
        self._hurry.clear()
        ordered, version = self._ordered, self._changes.version()
        if ordered == self._offered and (version == self._seen or not self._leads()):
            return
        await self.offer_runs()
        self._offered, self._seen = ordered, version

    async def _wait_for_next(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.every):
                await self._hurry.wait()
