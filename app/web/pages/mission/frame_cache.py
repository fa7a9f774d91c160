"""Caches the folded state of finished items, so that a later fold continues from an earlier one."""

import threading
from collections import OrderedDict

from app.events.kinds import RUN_KINDS
from app.loop.state import RunState, fold_events
from app.store.events import EventStore

FRAME_KINDS = (
    *(kind for kind in RUN_KINDS if kind.startswith(("run.", "scan.", "item."))),
    "attempt.started",
    "attempt.failed",
)
"""Event kinds that the ribbon and the counts need for finished items."""
KEPT = 64


class FrameCache:
    """Folded states by run and seq. Logs are append-only, so entries never expire. Thread-safe.

    Separate from Folds, which hold the newest state over all steady events; neither can be derived from the other.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int], RunState] = OrderedDict()
        """State by run and seq, least recently used first."""

    def fold_upto(self, run: str, seq: int) -> RunState:
        before, state = self._find_nearest(run, seq)
        if before < seq:
            state = fold_events(self._store.read_events(run, after=before, upto=seq, kinds=FRAME_KINDS), state)
        self._store_frame(run, seq, state)
        return state

    def _find_nearest(self, run: str, seq: int) -> tuple[int, RunState]:
        with self._lock:
            places = [place for of, place in self._known if of == run and place <= seq]
            return (nearest := max(places, default=0)), self._known.get((run, nearest)) or RunState()

    def _store_frame(self, run: str, seq: int, state: RunState) -> None:
        with self._lock:
            self._known[run, seq] = state
            self._known.move_to_end((run, seq))
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
