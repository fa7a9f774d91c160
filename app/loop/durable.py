"""Who works on what: a durable queue, one run at a time per host, taken up again after a crash. All of DBOS is here.

A run's workflow records no steps: it folds the event log and goes on. So there is no second journal.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context

from dbos import DBOS, DBOSClient, SetEnqueueOptions, SetWorkflowID, error

from app.store.db import IDLE_MILLISECONDS, dialled

QUEUE = "runs"
WORKFLOW = "harden"
VERSION = "1"
"""Pinned by hand: a changed workflow must still take up the runs of the one before."""
POLL_SECONDS = 0.5
FIRST_SECONDS = 0.1
"""Who was woken looks into the queue for the first time after this: somebody waits for what it was woken for."""
NOTICES_SECONDS = 0.2
"""Between DBOS's looks for messages between workflows, on PostgreSQL for those to send: a hundred a second, left to
itself. There are none, and its end waits for the next look."""
Drive = Callable[[str, int], Awaitable[None]]
"""A run, and the number of times that it has been offered."""


def is_news(record: logging.LogRecord) -> bool:
    """That a place in the queue was taken back is said by whoever took it, in a sentence."""
    what = record.exc_info[1] if record.exc_info else None
    return not isinstance(what, error.DBOSAwaitedWorkflowCancelledError | error.DBOSWorkflowCancelledError)


def entry(run: str, epoch: int = 1) -> str:
    """A run's place in the queue. What is offered again has another, and what comes of the earlier one is nothing."""
    return run if epoch == 1 else f"{run}.{epoch}"


def entries(run: str, upto: int) -> list[str]:
    return [entry(run, epoch) for epoch in range(1, upto + 1)]


class Durable:
    """`drive` runs on the loop that launched us; DBOS's own threads only hold its place in the queue."""

    def __init__(
        self, address: str, executor: str, drive: Drive, share: Callable[[], int | None] = lambda: None
    ) -> None:
        """`share`: as in `spread`, asked at each launch, blocking."""
        self._address = dialled(address)
        self._executor = executor
        self._drive, self._share = drive, share
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._turn = asyncio.Lock()
        self.awake = self._closed = self._hurries = False
        self._awake_since = 0.0

    @property
    def in_hand(self) -> frozenset[str]:
        """The runs that are worked on here."""
        return frozenset(self._tasks)

    async def launch(self) -> None:
        """Where it rests, or has not begun."""
        async with self._turn:
            await self._wake()
            if self.awake and self._hurries and time.monotonic() > self._awake_since + POLL_SECONDS:
                await asyncio.to_thread(self._poll_every, POLL_SECONDS)

    async def _wake(self) -> None:
        if self.awake or self._closed:
            return
        try:
            await asyncio.to_thread(self.launch_here)
        except Exception:
            await asyncio.to_thread(DBOS.destroy, destroy_registry=True)  # of half a launch nothing is left
            raise

    async def rest(self) -> None:
        """DBOS's threads ask the database seven times a second whether there is work: let go while there is none."""
        async with self._turn:
            if self.awake and not self._tasks:
                await asyncio.to_thread(self._poll_every, FIRST_SECONDS)
                await self._end()

    def launch_here(self) -> None:
        """Blocking."""
        logging.getLogger("dbos").addFilter(is_news)
        DBOS(
            config={
                "name": "temper",
                "system_database_url": self._address,
                "executor_id": self._executor,
                "application_version": VERSION,
                "log_level": "ERROR",
                "console_log_level": "ERROR",
                "enable_otlp": False,
                # A node that freezes in the middle of taking a run keeps the queue's rows from the others no longer.
                "sys_db_idle_transaction_timeout_sec": IDLE_MILLISECONDS / 1000,
                "notification_listener_polling_interval_sec": NOTICES_SECONDS,
                "notification_coalesce_sec": NOTICES_SECONDS,
            }
        )

        @DBOS.workflow(name=WORKFLOW)
        async def harden(run: str, epoch: int = 1) -> None:
            # In a context of its own: what a run asks of the queue would count as a step of this workflow, and DBOS
            # refuses a step of a workflow whose place was taken back, as it is where a run is offered to others.
            owned = Context().run(asyncio.run_coroutine_threadsafe, self._own(run, epoch), self._loop)
            await asyncio.wrap_future(owned)

        self._workflow = harden
        DBOS.launch()
        most = self._share()
        queue = DBOS.register_queue(
            QUEUE,
            partition_concurrency=1,
            worker_concurrency=most,
            polling_interval_sec=POLL_SECONDS,
            on_conflict="never_update",
        )
        if queue.worker_concurrency != most:
            queue.set_worker_concurrency(most)
        self._hurries, self._awake_since, self.awake = True, time.monotonic(), True

    def _poll_every(self, seconds: float) -> None:
        """It stands in the database, and is read again before each look into the queue."""
        queue = DBOS.retrieve_queue(QUEUE)
        if queue and queue.polling_interval_sec != seconds:
            queue.set_polling_interval_sec(seconds)
        self._hurries = False

    async def _own(self, run: str, epoch: int) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks[run] = task
        try:
            await self._drive(run, epoch)
        finally:
            if self._tasks.get(run) is task:
                del self._tasks[run]

    async def enqueue(self, run: str, host: str) -> None:
        """Safe to repeat: the run's id is the workflow's."""
        async with self._turn:
            await self._wake()
            await asyncio.to_thread(self._enqueue, run, host)

    def _enqueue(self, run: str, host: str) -> None:
        # In a thread on purpose: DBOS's async calls put its own executor under our loop, and take it down with them.
        with SetWorkflowID(run), SetEnqueueOptions(queue_partition_key=host):
            DBOS.enqueue_workflow(QUEUE, self._workflow, run)

    async def spread(self, most: int | None) -> None:
        """No node takes more runs at once than this; it stands in the database, for all of them."""
        async with self._turn:
            if self.awake:
                await asyncio.to_thread(self._spread, most)

    def _spread(self, most: int | None) -> None:
        queue = DBOS.retrieve_queue(QUEUE)
        if queue and queue.worker_concurrency != most:
            queue.set_worker_concurrency(most)

    async def offer(self, run: str, host: str, epoch: int) -> None:
        """Once more, for nobody works on it; safe to repeat."""
        async with self._turn:
            await self._wake()
            await asyncio.to_thread(self.offer_here, run, host, epoch)

    def offer_here(self, run: str, host: str, epoch: int) -> None:
        """Blocking."""
        if earlier := entries(run, epoch - 1):
            DBOS.cancel_workflows(earlier)  # each would keep the host's one place
        with SetWorkflowID(entry(run, epoch)), SetEnqueueOptions(queue_partition_key=host):
            DBOS.enqueue_workflow(QUEUE, self._workflow, run, epoch)

    def still_queued(self, offered: Sequence[tuple[str, int]]) -> list[str]:
        """Blocking. The runs whose place nobody was given yet; none while it rests, for then nobody gives places."""
        if not self.awake:
            return []
        places = {entry(run, epoch): run for run, epoch in offered}
        waiting = DBOS.list_workflows(workflow_ids=list(places), status="ENQUEUED", load_input=False, load_output=False)
        return [places[one.workflow_id] for one in waiting]

    async def forget(self, ended: Sequence[tuple[str, int]]) -> None:
        """Runs that ended, with how often each was offered, and the queue was perhaps not told of it: their hosts'
        places would be taken for good."""
        places = [place for run, epoch in ended for place in entries(run, epoch)]
        async with self._turn:
            await self._wake()
            await asyncio.to_thread(DBOS.cancel_workflows, places)

    async def close(self) -> None:
        """Nothing wakes it any more: its runs are the next start's."""
        async with self._turn:
            self._closed = True
            await self._end()

    async def _end(self) -> None:
        """DBOS goes first, so that a run cut short stays pending and is taken up by the next launch."""
        self.awake = False
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
        await self.drop()

    async def drop(self) -> None:
        """Let go of every run in work; what touches a host is seen through first."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def enqueue_from_outside(address: str, run: str, host: str) -> None:
    """For a process that does not work on runs itself."""
    client = DBOSClient(system_database_url=dialled(address))
    try:
        client.enqueue(
            {
                "queue_name": QUEUE,
                "workflow_name": WORKFLOW,
                "workflow_id": run,
                "app_version": VERSION,
                "queue_partition_key": host,
            },
            run,
        )
    finally:
        client.destroy()
