"""Offer runs: accepted ones to the queue, which rests when idle, and those of unreachable hosts to other nodes."""

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress

from sqlalchemy import Engine
from sqlmodel import Session

from app.loop.durable_run_queue import DurableQueue
from app.store import nodes
from app.store.change_monitor import ChangeMonitor
from app.store.events import EventStore
from app.store.leases import Leases
from app.store.periodic_background_task_base import PeriodicTask

log = logging.getLogger(__name__)

QUIET = 10.0
"""Seconds without a run until the queue is suspended."""


class Offers(PeriodicTask):
    """Offer the queue every accepted run that it does not know: the log's commit alone accepts a run.

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

    def request_offer_round(self) -> None:
        """Offer runs that were ordered here or may follow a run that ended here, without waiting for the leader."""
        self._ordered += 1
        self._hurry.set()

    async def offer_next_run_of_each_host_to_queue(self) -> None:
        """Give the queue each host's next run unless it knows that run."""
        queued = await asyncio.to_thread(self._store.list_next_runs_to_offer)
        if new := [(run, host) for run, host in queued if run not in self._known]:
            there = await self._durable.find_ever_queued([run for run, _ in new])
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
        await self.offer_next_run_of_each_host_to_queue()
        self._offered, self._seen = ordered, version

    async def _wait_for_next(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(self.every):
                await self._hurry.wait()


class IdleQueueSuspender(PeriodicTask):
    """Suspend the idle queue between runs, so that its threads do not poll the database."""

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


def hand_unreachable_host_run_to_other_nodes(database: Engine, leases: Leases, durable: DurableQueue, run: str) -> bool:
    """Offer the run to a node that has not tried its host lately. Return True if there is one. This blocks."""
    with Session(database) as session, session.begin():
        orphan = nodes.hand_over_unreachable_run(session, leases.node, run)
    if orphan is None:
        return False
    log.warning("run offered to the other nodes: its host does not answer", extra={"run": run, "host": orphan.host})
    durable.offer_again_blocking(orphan.run, orphan.host, orphan.epoch)
    return True


def pass_run_on_if_unreachable(
    database: Engine, leases: Leases | None, durable: DurableQueue, run: str, epoch: int
) -> bool:
    """Return True if this node could not reach the run's host just now, after offering the run to others."""
    if leases is None:
        return False
    with Session(database) as session, session.begin():
        orphan = nodes.reoffer_run_tried_here(session, leases.node, run, epoch)
    if orphan is None:
        return False
    durable.offer_again_blocking(orphan.run, orphan.host, orphan.epoch)
    return True


def create_other_node_can_take_run_check(database: Engine, leases: Leases, run: str) -> Callable[[], bool]:
    """Return a function that says whether another node could take the run at the time of the call."""
    with Session(database) as session:
        alone_until = time.monotonic() + nodes.get_seconds_until_another_node_may_retry_unreachable_host(
            session, leases.node, run
        )
    return lambda: leases.nodes > 1 and time.monotonic() >= alone_until
