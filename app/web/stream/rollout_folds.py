"""Cached current state of rollouts."""

from sqlmodel import Session

from app.runs.rollout.state import RolloutState, fold_rollout
from app.store.rollouts import read_rollout_events
from app.web.stream.folds import FoldCache


class RolloutStateCache:
    def __init__(self) -> None:
        self._kept = FoldCache(RolloutState())

    def read_current(self, session: Session, rollout: str) -> RolloutState:
        return self._kept.advance_state(
            rollout, lambda kept: fold_rollout(read_rollout_events(session, rollout, kept.seq), kept)
        )
