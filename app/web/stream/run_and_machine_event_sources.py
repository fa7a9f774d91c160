"""Where the events of a stream are read from: a run's log or the machine's samples."""

from typing import Protocol

from app.events.kinds import Event, RolloutEnded, RunEnd
from app.events.record import MACHINE, Recorded, parse_line
from app.store.events import EventStore


class EventSource(Protocol):
    """Blocking; called from threads."""

    def read_last_seq(self) -> int: ...
    def read_after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]: ...


class RunSource:
    def __init__(self, store: EventStore, run: str) -> None:
        self._store = store
        self._run = run

    def read_last_seq(self) -> int:
        newest = self._store.read_last_link(self._run)
        return newest[0] if newest else 0

    def read_after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        return [
            parse_line(line, digest) for _, line, digest in self._store.read_lines(self._run, seq, upto, limit=limit)
        ]


class MachineSource:
    def __init__(self, store: EventStore) -> None:
        self._store = store

    def read_last_seq(self) -> int:
        return self._store.read_last_sample_seq()

    def read_after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        return self._store.read_samples_after(seq, upto, limit)


def open_source(store: EventStore, run: str) -> EventSource:
    return MachineSource(store) if run == MACHINE else RunSource(store, run)


def is_final_event(event: Event) -> bool:
    """Return True if no event follows this one in its log."""
    return isinstance(event, RunEnd | RolloutEnded)
