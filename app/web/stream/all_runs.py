"""All runs' events as one stream, numbered by this process and kept for reconnecting viewers."""

import asyncio
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TypeVar

from app.events.bus import Bus
from app.events.record import ALL, AUDIT, MACHINE, Recorded, parse_line
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.store.events import EventStore

log = logging.getLogger(__name__)

KEPT = 5000
REACH = 4000
"""A viewer further behind is reset. Less than KEPT, so that no event is skipped silently."""
AGAIN_AFTER = 0.5
_OTHERS = (MACHINE, AUDIT, ALL)

T = TypeVar("T")
_Arrival = tuple[str, int, Recorded | None]
"""Run and seq of an event, and the event itself unless another process wrote it."""


class AllRunsSource:
    """Starts with its first viewer and runs until the process ends, so that viewers can resume."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        self._bus, self._store = bus, store
        # Numbers must be unique across processes: starting from the clock, reuse would take a million events a second.
        self._head = int(time.time()) * 1_000_000
        self._kept: deque[Recorded] = deque(maxlen=KEPT)
        self._heads: dict[str, int] = {}
        self._waiting: list[_Arrival] = []
        self._work, self._ready = asyncio.Event(), threading.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._task is None:
            self._bus.subscribe(self)
            self._task = asyncio.create_task(self._number_events(), name="stream of all runs")

    def close(self) -> None:
        self._ready.set()
        if self._task:
            self._task.cancel()

    def on_written(self, batch: Sequence[Recorded]) -> None:
        self._enqueue_events([(one.run, one.seq, one) for one in batch if one.run not in _OTHERS])

    def on_written_elsewhere(self, run: str, seq: int) -> None:
        self._enqueue_events([(run, seq, None)] if run not in _OTHERS else [])

    def read_last_seq(self) -> int:
        """Return the newest number. Waits until the heads of all runs are known; nothing is missed after that."""
        self._ready.wait()
        return self._head

    def read_after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        """Return up to `limit` events after `seq`. Thread-safe: works on a copy."""
        found = (one for one in tuple(self._kept) if one.seq > seq and (upto is None or one.seq <= upto))
        return list(islice(found, limit))

    def _enqueue_events(self, arrivals: Sequence[_Arrival]) -> None:
        if arrivals:
            self._waiting.extend(arrivals)
            self._work.set()

    async def _number_events(self) -> None:
        try:
            self._heads = await retry_until_database_answers(self._store.map_unended_chains_to_seqs)
        finally:
            self._ready.set()
        while True:
            await self._work.wait()
            self._work.clear()
            waiting, self._waiting = self._waiting, []
            batch: list[Recorded] = []
            for run, seq, event in waiting:
                batch += await self._read_unseen_events_up_to(run, seq, event)
            numbered = [replace(one, run=ALL, seq=place) for place, one in enumerate(batch, self._head + 1)]
            self._kept.extend(numbered)
            self._head += len(numbered)
            self._bus.publish(numbered)

    async def _read_unseen_events_up_to(
        self, run: str, newest_seq: int, newest_event: Recorded | None
    ) -> list[Recorded]:
        """Return the events of the run that follow the last known one, reading any gap from the store."""
        head = self._heads.get(run, 0)
        if newest_seq <= head:
            return []
        self._heads[run] = newest_seq
        if newest_event and newest_seq == head + 1:
            return [newest_event]
        lines = await retry_until_database_answers(partial(self._store.read_lines, run, head, newest_seq))
        return [parse_line(line, digest) for _, line, digest in lines]


async def retry_until_database_answers(query: Callable[[], T]) -> T:
    """Call `query` in a thread, and retry while the database is away."""
    while True:
        try:
            return await asyncio.to_thread(query)
        except DATABASE_UNAVAILABLE as exc:
            log.warning("the stream of all runs waits: %s", shorten_database_error(exc))
            await asyncio.sleep(AGAIN_AFTER)
