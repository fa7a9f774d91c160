"""What the items that are done come to, folded once: a later look goes on from an earlier one."""

import threading
from collections import OrderedDict

from app.events.kinds import KINDS
from app.loop.state import RunState, fold
from app.store.events import EventStore

FRAME = (
    *(kind for kind in KINDS if kind.startswith(("run.", "scan.", "item."))),
    "attempt.started",
    "attempt.failed",
)
"""What the ribbon and the counts need of items that are done."""
KEPT = 64


class Frames:
    """A log is only added to, so what was folded once stays right. Read from many threads.

    Apart from Folds: of a run's newest state, with every steady event, none of these can be made, nor the other way.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known: OrderedDict[tuple[str, int], RunState] = OrderedDict()
        """Run and seq to the state there; the one looked at longest ago goes first."""

    def upto(self, run: str, seq: int) -> RunState:
        before, state = self._nearest(run, seq)
        if before < seq:
            state = fold(self._store.events(run, after=before, upto=seq, kinds=FRAME), state)
        self._keep(run, seq, state)
        return state

    def _nearest(self, run: str, seq: int) -> tuple[int, RunState]:
        with self._lock:
            places = [place for of, place in self._known if of == run and place <= seq]
            return (nearest := max(places, default=0)), self._known.get((run, nearest)) or RunState()

    def _keep(self, run: str, seq: int, state: RunState) -> None:
        with self._lock:
            self._known[run, seq] = state
            self._known.move_to_end((run, seq))
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
