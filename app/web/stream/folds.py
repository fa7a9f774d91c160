"""Runs folded and kept: who asks again waits for what came since, not for the whole log."""

from collections import OrderedDict
from threading import Lock

from app.loop.state import RunState, fold
from app.store.events import STEADY, EventStore

MOST = 32
"""Runs that are kept, the ones last asked for. A state of thirty rules holds some hundred kilobytes."""


class Folds:
    """A log is only added to, so what was folded once stays right. Asked from many threads."""

    def __init__(self, store: EventStore, most: int = MOST) -> None:
        self._store, self._most = store, most
        self._kept: OrderedDict[str, RunState] = OrderedDict()
        self._lock = Lock()

    def now(self, run: str) -> RunState:
        with self._lock:
            kept = self._kept.get(run, RunState())
        state = fold(self._store.events(run, after=kept.seq, kinds=STEADY), kept)
        with self._lock:
            there = self._kept.get(run)
            if there is None or there.seq < state.seq:  # two may have folded the same
                self._kept[run] = state
            self._kept.move_to_end(run)
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return state
