"""Rollouts folded and kept: who asks again waits for what came since, not for the whole chain."""

from collections import OrderedDict
from threading import Lock

from sqlmodel import Session

from app.runs.rollout.state import RolloutState, fold_rollout
from app.store.rollouts import events_of

MOST = 32
"""Rollouts that are kept, the ones last asked for."""


class RolloutFolds:
    """A chain is only added to, so what was folded once stays right. Asked from many threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, RolloutState] = OrderedDict()
        self._lock = Lock()

    def now(self, session: Session, rollout: str) -> RolloutState:
        with self._lock:
            kept = self._kept.get(rollout, RolloutState())
        state = fold_rollout(events_of(session, rollout, kept.seq), kept)
        with self._lock:
            if self._kept.get(rollout, kept).seq <= state.seq:  # two may have folded the same
                self._kept[rollout] = state
            self._kept.move_to_end(rollout)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        return state
