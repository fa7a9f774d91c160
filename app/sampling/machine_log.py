"""The single owner of the machine's seq. Samples are logged like events, and are in nobody's chain."""

import time
from collections.abc import Callable

from app.events.kinds import Event
from app.events.log import LogWriter
from app.events.record import MACHINE, Recorded, record


class MachineLog:
    def __init__(self, writer: LogWriter, last: int, clock: Callable[[], float] = time.time) -> None:
        self._writer, self._seq, self._clock = writer, last, clock

    def append(self, *events: Event) -> list[Recorded]:
        at, batch = self._clock(), []
        for event in events:
            self._seq += 1
            batch.append(record(MACHINE, self._seq, at, event, ""))
        if batch:
            self._writer.submit(batch)
        return batch
