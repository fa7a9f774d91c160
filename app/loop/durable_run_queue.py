"""The durable queue: one run at a time per host, resumed after a crash. Only this module uses DBOS.

A run's workflow records no steps, as it resumes from the event log.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from contextvars import Context
from typing import Any, TypeVar, TypeVarTuple

from dbos import DBOS, SetEnqueueOptions, SetWorkflowID, error

from app.store.db import IDLE_MILLISECONDS, add_keepalives_to_address

QUEUE = "runs"
WORKFLOW = "harden"
VERSION = "1"
"""Fixed, so that a changed workflow still resumes runs of the one before."""
POLL_SECONDS = 0.5
FIRST_SECONDS = 0.1
"""Delay of the first poll after a launch, when a caller is waiting."""
NOTICES_SECONDS = 0.2
"""Interval of DBOS's polls for workflow messages, unused here: by default 100 a second. Shutdown waits for one."""
_Words = TypeVarTuple("_Words")
_Result = TypeVar("_Result")
Drive = Callable[[str, int], Awaitable[None]]
"""Takes a run and its epoch."""


def is_worth_logging(record: logging.LogRecord) -> bool:
    """Filter out DBOS's log records of cancelled workflows, which the canceller reports itself."""
    what = record.exc_info[1] if record.exc_info else None
    return not isinstance(what, error.DBOSAwaitedWorkflowCancelledError | error.DBOSWorkflowCancelledError)


def make_workflow_id(run: str, epoch: int = 1) -> str:
    """Return the workflow id of a run. Each epoch has its own; earlier ones are void."""
    return run if epoch == 1 else f"{run}.{epoch}"


def list_workflow_ids(run: str, upto: int) -> list[str]:
    return [make_workflow_id(run, epoch) for epoch in range(1, upto + 1)]


def _update_queue_settings(**wanted: Any) -> None:
    """Set what differs, in the database, from which DBOS reads it before each poll."""
    queue = DBOS.retrieve_queue(QUEUE)
    for name, value in wanted.items():
        if queue and getattr(queue, name) != value:
            getattr(queue, f"set_{name}")(value)


class DurableQueue:
    """Runs `drive` on the event loop that created it; DBOS's threads only hold the place in the queue."""

    def __init__(
        self, address: str, executor: str, drive: Drive, share: Callable[[], int | None] = lambda: None
    ) -> None:
        """`share`: returns the limit as in `limit_concurrency_per_node`, read at each launch; blocking."""
        self._address = add_keepalives_to_address(address)
        self._executor = executor
        self._drive, self._share = drive, share
        self._loop = asyncio.get_running_loop()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._taken: dict[str, float] = {}
        self._turn = asyncio.Lock()
        self.awake = self._closed = self._hurries = False
        self._awake_since = 0.0

    @property
    def in_hand(self) -> frozenset[str]:
        return frozenset(self._tasks)

    @property
    def taken_at(self) -> dict[str, float]:
        """When this process took up each of the runs that it works on."""
        return dict(self._taken)

    async def launch(self) -> None:
        """Launch the queue unless it is running."""
        async with self._turn:
            await self._launch_if_suspended()
            if self.awake and self._hurries and time.monotonic() > self._awake_since + POLL_SECONDS:
                await asyncio.to_thread(_update_queue_settings, polling_interval_sec=POLL_SECONDS)
                self._hurries = False

    async def _launch_if_suspended(self) -> None:
        if self.awake or self._closed:
            return
        try:
            await asyncio.to_thread(self.start_dbos_blocking)
        except Exception:
            await asyncio.to_thread(DBOS.destroy, destroy_registry=True)  # clean up after a partial launch
            raise

    async def _call_launched(self, call: Callable[[*_Words], _Result], *words: *_Words) -> _Result:
        """Call in a thread, once the queue runs. DBOS's async calls would replace our loop's executor by theirs."""
        async with self._turn:
            await self._launch_if_suspended()
            return await asyncio.to_thread(call, *words)

    async def suspend_if_idle(self) -> None:
        """Stop DBOS while there is no work, as its threads query the database seven times a second."""
        async with self._turn:
            if self.awake and not self._tasks:
                await asyncio.to_thread(_update_queue_settings, polling_interval_sec=FIRST_SECONDS)
                await self._stop_and_cancel_runs()

    def start_dbos_blocking(self) -> None:
        logging.getLogger("dbos").addFilter(is_worth_logging)
        DBOS(
            config={
                "name": "temper",
                "system_database_url": self._address,
                "executor_id": self._executor,
                "application_version": VERSION,
                "log_level": "ERROR",
                "console_log_level": "ERROR",
                "enable_otlp": False,
                # A node that freezes while taking a run keeps the queue's row locks only for this long.
                "sys_db_idle_transaction_timeout_sec": IDLE_MILLISECONDS / 1000,
                "notification_listener_polling_interval_sec": NOTICES_SECONDS,
                "notification_coalesce_sec": NOTICES_SECONDS,
            }
        )

        @DBOS.workflow(name=WORKFLOW)
        async def run_workflow(run: str, epoch: int = 1) -> None:
            # In its own context: DBOS would count queue calls of a run as steps of this workflow, and refuses
            # steps of a cancelled workflow, as it is when the run is offered to other nodes.
            owned = Context().run(asyncio.run_coroutine_threadsafe, self._drive_and_track_run(run, epoch), self._loop)
            await asyncio.wrap_future(owned)

        self._workflow = run_workflow
        DBOS.launch()
        most = self._share()
        queue = DBOS.register_queue(
            QUEUE,
            partition_concurrency=1,
            worker_concurrency=most,
            polling_interval_sec=FIRST_SECONDS,
            on_conflict="never_update",
        )
        if queue.worker_concurrency != most:
            queue.set_worker_concurrency(most)
        self._hurries, self._awake_since, self.awake = True, time.monotonic(), True

    async def _drive_and_track_run(self, run: str, epoch: int) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks[run], self._taken[run] = task, time.time()
        try:
            await self._drive(run, epoch)
        finally:
            if self._tasks.get(run) is task:
                del self._tasks[run], self._taken[run]

    async def enqueue(self, run: str, host: str) -> None:
        """Queue a run. Safe to repeat: the run's id is the workflow's."""
        await self._call_launched(self.offer_again_blocking, run, host, 1)

    async def find_ever_queued(self, runs: Sequence[str]) -> set[str]:
        """Return those of `runs` that have a place in the queue, or had one."""
        return await self._call_launched(self._find_ever_queued, runs)

    def _find_ever_queued(self, runs: Sequence[str]) -> set[str]:
        there = DBOS.list_workflows(workflow_ids=list(runs), load_input=False, load_output=False)
        return {one.workflow_id for one in there}

    async def limit_concurrency_per_node(self, most_runs: int | None) -> None:
        """Set the maximum number of concurrent runs per node, stored in the database for all nodes."""
        async with self._turn:
            if self.awake:
                await asyncio.to_thread(_update_queue_settings, worker_concurrency=most_runs)

    async def offer_again(self, run: str, host: str, epoch: int) -> None:
        """Queue a run again under the next epoch, as no node works on it. Safe to repeat."""
        await self._call_launched(self.offer_again_blocking, run, host, epoch)

    def offer_again_blocking(self, run: str, host: str, epoch: int) -> None:
        DBOS.cancel_workflows(list_workflow_ids(run, epoch - 1))  # each would hold the host's only slot
        with SetWorkflowID(make_workflow_id(run, epoch)), SetEnqueueOptions(queue_partition_key=host):
            DBOS.enqueue_workflow(QUEUE, self._workflow, run, epoch)

    def list_still_queued(self, runs_with_epochs: Sequence[tuple[str, int]]) -> list[str]:
        """Return the offered runs that are still queued; none while suspended, as nothing is taken then. Blocking."""
        if not self.awake:
            return []
        places = {make_workflow_id(run, epoch): run for run, epoch in runs_with_epochs}
        waiting = DBOS.list_workflows(workflow_ids=list(places), status="ENQUEUED", load_input=False, load_output=False)
        return [places[one.workflow_id] for one in waiting]

    async def cancel_ended(self, runs_with_epochs: Sequence[tuple[str, int]]) -> None:
        """Cancel the workflows of ended runs, given with their epochs: they would hold their hosts' slots forever."""
        places = [place for run, epoch in runs_with_epochs for place in list_workflow_ids(run, epoch)]
        await self._call_launched(DBOS.cancel_workflows, places)

    async def close(self) -> None:
        """Shut down for good; the next process resumes its runs."""
        async with self._turn:
            self._closed = True
            await self._stop_and_cancel_runs()

    async def _stop_and_cancel_runs(self) -> None:
        """Stop DBOS first, so that interrupted runs stay pending and resume at the next launch."""
        self.awake = False
        await asyncio.to_thread(DBOS.destroy, destroy_registry=True)
        await self.cancel_runs()

    async def cancel_runs(self) -> None:
        """Cancel all runs of this process; steps that touch a host finish first."""
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
