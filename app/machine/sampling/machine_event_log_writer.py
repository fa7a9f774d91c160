"""The single writer of the machine's log. Samples are logged like events but in no hash chain."""

import asyncio
import time
from collections.abc import Callable

from app.events.kinds import Event
from app.events.log_writer import LogWriter
from app.events.record import MACHINE, Recorded, build_recorded_event

FULL_SECONDS = 60.0
"""Seconds after which a blocked log takes no more samples, which would fill the memory."""


class MachineLog:
    def __init__(
        self,
        writer: LogWriter,
        last: Callable[[], int],
        clock: Callable[[], float] = time.time,
        leads: Callable[[], int] = lambda: 1,
    ) -> None:
        """`leads`: number of this node's current term as leader, or 0; other nodes may write between two terms."""
        self._writer, self._last, self.clock, self._leads = writer, last, clock, leads
        self._led = self._seq = 0

    @property
    def is_leader(self) -> bool:
        """True if this node keeps the log for all nodes of the database."""
        return bool(self._leads())

    @property
    def is_write_blocked(self) -> bool:
        """True while the log takes no samples."""
        return self._writer.stalled_seconds >= FULL_SECONDS

    async def record_and_write_if_leader(self, *events: Event) -> list[Recorded]:
        at, batch, led = self.clock(), [], self._led
        self._led = self._leads()
        if self._led and self._led != led:
            self._writer.lost.discard(MACHINE)
            self._seq = await asyncio.to_thread(self._last)
        for event in events:
            self._seq += 1
            batch.append(build_recorded_event(MACHINE, self._seq, at, event, ""))
        if batch and self._led and not self.is_write_blocked:
            self._writer.enqueue_batch(batch)
        return batch
