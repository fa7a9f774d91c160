"""Cached current state of rollouts."""

from sqlmodel import Session

from app.runs.rollout.state import RolloutState, fold_rollout
from app.store.rollouts import events_of
from app.web.stream.folds import KeptFolds


class RolloutFolds:
    def __init__(self) -> None:
        self._kept = KeptFolds(RolloutState())

    def now(self, session: Session, rollout: str) -> RolloutState:
        return self._kept.further(rollout, lambda kept: fold_rollout(events_of(session, rollout, kept.seq), kept))
