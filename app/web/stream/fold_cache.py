"""Cached folds of logs: a repeated request folds only what is new."""

from collections.abc import Callable
from threading import Lock
from typing import Generic, Protocol, TypeVar

from sqlmodel import Session

from app.loop.state import RunState, fold_events
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.store.events import STEADY, EventStore
from app.store.rollouts import read_rollout_events
from app.web.stream.recently_used import RecentlyUsed

MOST = 32
"""Cached logs, least recently used dropped first. A run of thirty rules takes some 100 KB."""


class FoldedState(Protocol):
    @property
    def seq(self) -> int: ...


State = TypeVar("State", bound=FoldedState)


class FoldCache(Generic[State]):
    """Thread-safe LRU cache of fold states. Logs only grow, so a cached state stays valid."""

    def __init__(self, empty: State, most: int = MOST) -> None:
        self._empty, self._kept = empty, RecentlyUsed[str, State](most)
        self._lock = Lock()

    def advance_state(self, log_name: str, fold_new_events: Callable[[State], State]) -> State:
        with self._lock:
            kept = self._kept.get(log_name, self._empty)
        state = fold_new_events(kept)
        with self._lock:
            newest = self._kept.get(log_name, self._empty)
            # Another thread may have folded it, too.
            self._kept.keep(log_name, state if newest.seq <= state.seq else newest)
        return state


class RunStateCache:
    """Cached current state of runs."""

    def __init__(self, store: EventStore, most: int = MOST) -> None:
        self._store, self._kept = store, FoldCache(RunState(), most)

    def read_current(self, run: str) -> RunState:
        return self._kept.advance_state(
            run, lambda kept: fold_events(self._store.read_events(run, after=kept.seq, kinds=STEADY), kept)
        )


class RolloutStateCache:
    def __init__(self) -> None:
        self._kept = FoldCache(RolloutState())

    def read_current(self, session: Session, rollout: str) -> RolloutState:
        return self._kept.advance_state(
            rollout, lambda kept: fold_rollout(read_rollout_events(session, rollout, kept.seq), kept)
        )
