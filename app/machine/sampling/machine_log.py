"""The single owner of the machine's seq. Samples are logged like events, and are in nobody's chain."""

import asyncio
import time
from collections.abc import Callable

from app.events.kinds import Event
from app.events.log import LogWriter
from app.events.record import MACHINE, Recorded, record

FULL_SECONDS = 60.0
"""A log that has waited so long to be written takes no more samples: they would fill the memory."""


class MachineLog:
    def __init__(
        self,
        writer: LogWriter,
        last: Callable[[], int],
        clock: Callable[[], float] = time.time,
        leads: Callable[[], int] = lambda: 1,
    ) -> None:
        """`leads`: by which turn at leading its node does, or 0: between two turns others have written."""
        self._writer, self._last, self._clock, self._leads = writer, last, clock, leads
        self._led = self._seq = 0

    @property
    def leads(self) -> bool:
        """Its node is the one of those on a database that keeps this log; the others only look."""
        return bool(self._leads())

    async def append(self, *events: Event) -> list[Recorded]:
        at, batch, led = self._clock(), [], self._led
        self._led = self._leads()
        if self._led and self._led != led:
            self._writer.lost.discard(MACHINE)
            self._seq = await asyncio.to_thread(self._last)
        for event in events:
            self._seq += 1
            batch.append(record(MACHINE, self._seq, at, event, ""))
        if batch and self._led and self._writer.waits < FULL_SECONDS:
            self._writer.submit(batch)
        return batch
