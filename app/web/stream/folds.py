"""Logs folded and kept: who asks again waits for what came since, not for the whole log."""

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar

from app.loop.state import RunState, fold
from app.store.events import STEADY, EventStore

MOST = 32
"""Logs that are kept, the ones last asked for. A run's state of thirty rules holds some hundred kilobytes."""


class Folded(Protocol):
    @property
    def seq(self) -> int: ...


State = TypeVar("State", bound=Folded)


class KeptFolds(Generic[State]):
    """A log is only added to, so what was folded once stays right. Asked from many threads."""

    def __init__(self, empty: State, most: int = MOST) -> None:
        self._empty, self._most = empty, most
        self._kept: OrderedDict[str, State] = OrderedDict()
        self._lock = Lock()

    def further(self, name: str, folded: Callable[[State], State]) -> State:
        with self._lock:
            kept = self._kept.get(name, self._empty)
        state = folded(kept)
        with self._lock:
            if self._kept.get(name, self._empty).seq <= state.seq:  # two may have folded the same
                self._kept[name] = state
            self._kept.move_to_end(name)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return state


class Folds:
    """Runs as they are now."""

    def __init__(self, store: EventStore, most: int = MOST) -> None:
        self._store, self._kept = store, KeptFolds(RunState(), most)

    def now(self, run: str) -> RunState:
        return self._kept.further(run, lambda kept: fold(self._store.events(run, after=kept.seq, kinds=STEADY), kept))
