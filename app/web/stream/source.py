"""Where the events of a stream are read from: a run's log or the machine's samples."""

from typing import Protocol

from app.events.kinds import Event, RolloutEnded, RunFailed, RunFinished, RunStopped
from app.events.record import MACHINE, Recorded, read
from app.store.events import EventStore


class Source(Protocol):
    """Blocking; called from threads."""

    def last(self) -> int: ...
    def after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]: ...


class RunSource:
    def __init__(self, store: EventStore, run: str) -> None:
        self._store = store
        self._run = run

    def last(self) -> int:
        newest = self._store.last(self._run)
        return newest[0] if newest else 0

    def after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        return [read(line, digest) for _, line, digest in self._store.lines(self._run, seq, upto, limit=limit)]


class MachineSource:
    def __init__(self, store: EventStore) -> None:
        self._store = store

    def last(self) -> int:
        return self._store.last_sample()

    def after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        return self._store.samples_after(seq, upto, limit)


def source(store: EventStore, run: str) -> Source:
    return MachineSource(store) if run == MACHINE else RunSource(store, run)


def ends(event: Event) -> bool:
    """Return True if no event follows this one in its log."""
    return isinstance(event, RunFinished | RunFailed | RunStopped | RolloutEnded)
