"""Fan-out in memory: who follows a run wakes when it has more. A follower holds a cursor, never a queue."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence

from app.events.record import Recorded


class Bus:
    def __init__(self) -> None:
        self._woken: dict[str, asyncio.Event] = defaultdict(asyncio.Event)
        self.newest: dict[str, int] = {}

    def heard(self, run: str, seq: int) -> None:
        """Another process wrote it."""
        if seq > self.newest.get(run, 0):
            self.newest[run] = seq
            self._woken.pop(run, asyncio.Event()).set()

    def publish(self, batch: Sequence[Recorded]) -> None:
        for recorded in batch:
            self.newest[recorded.run] = max(recorded.seq, self.newest.get(recorded.run, 0))
        for run in {recorded.run for recorded in batch}:
            self._woken.pop(run, asyncio.Event()).set()

    async def beyond(self, run: str, seq: int) -> None:
        """Return once `run` has an event after `seq`."""
        while self.newest.get(run, 0) <= seq:
            await self._woken[run].wait()
