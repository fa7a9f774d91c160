"""The log: one owner per run assigns seq and hash; one writer per process writes batches and wakes the bus."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from app.errors import EnvironmentUnusable, LeaseLost
from app.events.bus import Bus
from app.events.kinds import Event
from app.events.record import GENESIS, Recorded, build_recorded_event

BATCH_SECONDS = 0.02
CLOSE_SECONDS = 5.0
"""Maximum seconds that an unwritable log delays the end of the process."""


class Sink(Protocol):
    def append(self, batch: Sequence[Recorded]) -> frozenset[str]:
        """Write the whole batch or nothing, without runs that another node owns, and return those. Blocking."""

    def give_up(self) -> None:
        """Stop retrying, since the process ends."""


class LogWriter:
    """Writes the batches of all runs to the sink in order. After a failed write it accepts nothing more."""

    def __init__(self, sink: Sink, bus: Bus) -> None:
        self._sink = sink
        self._bus = bus
        self._queue: list[Recorded] = []
        self._work = asyncio.Event()
        self._hurry = asyncio.Event()
        self._written = asyncio.Condition()
        self._taken = self._done = 0
        self._wrote_at = float("-inf")
        self._failure: Exception | None = None
        self._writing_since: float | None = None
        self.broken = asyncio.Event()
        """Set once a write has failed for good; the process is then of no use."""
        self.lost: set[str] = set()
        """Runs that another node has taken over; their events are not written here."""
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._write_batches(), name="log writer")

    async def close(self) -> None:
        if self._task:
            with contextlib.suppress(EnvironmentUnusable, TimeoutError):  # the error reached whoever appended
                async with asyncio.timeout(CLOSE_SECONDS):
                    await self.flush()
            self._sink.give_up()
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def stalled_seconds(self) -> float:
        """Seconds for which the current batch has been waiting for the disk."""
        return 0.0 if self._writing_since is None else time.monotonic() - self._writing_since

    def enqueue_batch(self, batch: Sequence[Recorded]) -> None:
        if self._failure:
            raise _create_unwritable_error(self._failure) from self._failure
        self._queue.extend(batch)
        self._taken += len(batch)
        self._work.set()

    async def flush(self) -> None:
        """Wait until everything submitted so far is on disk."""
        upto = self._taken
        self._hurry.set()
        async with self._written:
            await self._written.wait_for(lambda: self._done >= upto or self._failure is not None)
        if self._failure:
            raise _create_unwritable_error(self._failure) from self._failure

    async def _write_batches(self) -> None:
        while True:
            await self._work.wait()
            await self._wait_for_batch_time_or_flush()
            batch, self._queue = self._queue, []
            self._work.clear()
            self._hurry.clear()
            try:
                self._wrote_at = self._writing_since = time.monotonic()
                lost = await asyncio.to_thread(self._sink.append, batch)
            except Exception as exc:  # noqa: BLE001  whatever the sink raised, whoever waits must hear of it
                self._failure = exc
                self.broken.set()
            else:
                self.lost.update(lost)
                self._bus.publish([recorded for recorded in batch if recorded.run not in lost])
            self._writing_since = None
            async with self._written:
                self._done += len(batch)
                self._written.notify_all()
            if self._failure:
                return

    async def _wait_for_batch_time_or_flush(self) -> None:
        """Wait for more events, unless the last write was long ago or a flush waits."""
        try:
            async with asyncio.timeout(self._wrote_at + BATCH_SECONDS - time.monotonic()):
                await self._hurry.wait()
        except TimeoutError:
            return


def _create_unwritable_error(failure: Exception) -> EnvironmentUnusable:
    why = str(failure).partition("\n")[0]
    return EnvironmentUnusable(f"Temper can no longer write its log: {why}. Start Temper again: its runs resume.")


class RunLog:
    """Assigns seq and hash to one run's events."""

    def __init__(
        self, run: str, writer: LogWriter, last: tuple[int, str] = (0, GENESIS), clock: Callable[[], float] = time.time
    ) -> None:
        self.run = run
        self._writer = writer
        self._seq, self._hash = last
        self._clock = clock

    def append(self, *events: Event) -> list[Recorded]:
        """Append events; those of one call reach the disk together or not at all."""
        self._require_ownership()
        batch = []
        for event in events:
            recorded = build_recorded_event(self.run, self._seq + 1, self._clock(), event, self._hash)
            self._seq, self._hash = recorded.seq, recorded.hash
            batch.append(recorded)
        self._writer.enqueue_batch(batch)
        return batch

    async def flush(self) -> None:
        await self._writer.flush()
        self._require_ownership()

    def _require_ownership(self) -> None:
        if self.run in self._writer.lost:
            raise LeaseLost(self.run)
