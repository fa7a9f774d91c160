"""In-memory fan-out: wakes the followers of a run and hands them events written by this process."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Protocol

from app.events.record import Recorded

TAIL = 1000
"""Events kept per followed run; slower followers read from the store."""


class Tail:
    """The newest events of one run that this process wrote, without gaps. Others are only in the store."""

    def __init__(self) -> None:
        self.followers = 0
        self._events: deque[Recorded] = deque(maxlen=TAIL)

    def append(self, recorded: Recorded) -> None:
        if self._events and self._events[-1].seq + 1 != recorded.seq:
            self._events.clear()
        self._events.append(recorded)

    def read_after(self, seq: int, most: int) -> list[Recorded]:
        """Return up to `most` events after `seq`; empty if the next one is not here."""
        if not self._events or not self._events[0].seq <= seq + 1 <= self._events[-1].seq:
            return []
        begin = seq + 1 - self._events[0].seq
        return list(islice(self._events, begin, begin + most))


class Listener(Protocol):
    """Receives the events of every run. Called on the event loop; must not block."""

    def on_written(self, batch: Sequence[Recorded]) -> None:
        """Handle events written by this process, in stored order."""

    def on_written_elsewhere(self, run: str, seq: int) -> None:
        """Handle a run that another process wrote up to `seq`."""


class Bus:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []
        self._woken: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._tails: dict[str, Tail] = {}
        self.newest: dict[str, int] = {}

    def notify_external(self, run: str, seq: int) -> None:
        """Record that another process wrote `run` up to `seq`, and wake its followers."""
        if seq > self.newest.get(run, 0):
            self.newest[run] = seq
            self._wake_waiters(run)
            for hearer in self._listeners:
                hearer.on_written_elsewhere(run, seq)

    def publish(self, batch: Sequence[Recorded]) -> None:
        for recorded in batch:
            self.newest[recorded.run] = max(recorded.seq, self.newest.get(recorded.run, 0))
            if tail := self._tails.get(recorded.run):
                tail.append(recorded)
        for run in {recorded.run for recorded in batch}:
            self._wake_waiters(run)
        for hearer in self._listeners:
            hearer.on_written(batch)

    def _wake_waiters(self, run: str) -> None:
        if woken := self._woken.pop(run, None):
            woken.set()

    def subscribe(self, hearer: Listener) -> None:
        self._listeners.append(hearer)

    async def wait_for_event_after(self, run: str, seq: int) -> None:
        while self.newest.get(run, 0) <= seq:
            await self._woken[run].wait()

    def is_followed(self, run: str) -> bool:
        return run in self._tails

    @contextmanager
    def follow_run(self, run: str) -> Iterator[Tail]:
        """Keep a tail of the run's events while it is followed."""
        tail = self._tails.setdefault(run, Tail())
        tail.followers += 1
        try:
            yield tail
        finally:
            tail.followers -= 1
            if not tail.followers:
                del self._tails[run]
