"""Fan-out in memory: who follows a run wakes when it has more, and is handed what was written here."""

import asyncio
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Protocol

from app.events.record import Recorded

TAIL = 1000
"""Events kept for whoever follows a run; who falls further behind reads them from the store."""


class Tail:
    """The newest events of one run that this process wrote, without a gap. Another's are in the store alone."""

    def __init__(self) -> None:
        self.followers = 0
        self._events: deque[Recorded] = deque(maxlen=TAIL)

    def take(self, recorded: Recorded) -> None:
        if self._events and self._events[-1].seq + 1 != recorded.seq:
            self._events.clear()
        self._events.append(recorded)

    def after(self, seq: int, most: int) -> list[Recorded]:
        """What follows `seq` at once; empty where the next event is not here."""
        if not self._events or not self._events[0].seq <= seq + 1 <= self._events[-1].seq:
            return []
        begin = seq + 1 - self._events[0].seq
        return list(islice(self._events, begin, begin + most))


class Hearer(Protocol):
    """Of every run, for as long as the process lives. Told on the loop, and must not wait."""

    def written(self, batch: Sequence[Recorded]) -> None:
        """Here, in the order of the disk."""

    def elsewhere(self, run: str, seq: int) -> None:
        """By another process, up to this."""


class Bus:
    def __init__(self) -> None:
        self._hearers: list[Hearer] = []
        self._woken: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self._tails: dict[str, Tail] = {}
        self.newest: dict[str, int] = {}

    def heard(self, run: str, seq: int) -> None:
        """Another process wrote it."""
        if seq > self.newest.get(run, 0):
            self.newest[run] = seq
            self._wake(run)
            for hearer in self._hearers:
                hearer.elsewhere(run, seq)

    def publish(self, batch: Sequence[Recorded]) -> None:
        """It is on disk: those who follow get it as it was written."""
        for recorded in batch:
            self.newest[recorded.run] = max(recorded.seq, self.newest.get(recorded.run, 0))
            if tail := self._tails.get(recorded.run):
                tail.take(recorded)
        for run in {recorded.run for recorded in batch}:
            self._wake(run)
        for hearer in self._hearers:
            hearer.written(batch)

    def _wake(self, run: str) -> None:
        if woken := self._woken.pop(run, None):
            woken.set()

    def hear(self, hearer: Hearer) -> None:
        self._hearers.append(hearer)

    async def beyond(self, run: str, seq: int) -> None:
        """Return once `run` has an event after `seq`."""
        while self.newest.get(run, 0) <= seq:
            await self._woken[run].wait()

    def follows(self, run: str) -> bool:
        return run in self._tails

    @contextmanager
    def followed(self, run: str) -> Iterator[Tail]:
        """Nothing is kept of a run that nobody follows."""
        tail = self._tails.setdefault(run, Tail())
        tail.followers += 1
        try:
            yield tail
        finally:
            tail.followers -= 1
            if not tail.followers:
                del self._tails[run]
