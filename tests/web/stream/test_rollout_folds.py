"""A rollout that is asked for again is read from where it was."""

from sqlmodel import Session

from app.events.kinds import RolloutPaused
from app.runs.rollout.rollout_state import fold_rollout
from app.store import rollouts
from app.web.stream import fold_cache
from app.web.stream.fold_cache import MOST, RolloutStateCache
from tests.background.rollouts.test_rollout_controller import Place


def test_it_is_what_the_whole_chain_folds_to_and_reads_only_what_came_since(tmp_path, monkeypatch):
    place, folds, read = Place(tmp_path), RolloutStateCache(), []
    place.ask(3)

    def watched(session, rollout, after):
        read.append(after)
        return rollouts.read_rollout_events(session, rollout, after)

    monkeypatch.setattr(fold_cache, "read_rollout_events", watched)
    with Session(place.database) as session:
        assert folds.read_current(session, "o1").status == "running"
    with rollouts.open_rollout_journal(place.database, "o1") as chain:
        chain.append(RolloutPaused(by="ada"))
    with Session(place.database) as session:
        assert folds.read_current(session, "o1") == fold_rollout(rollouts.read_rollout_events(session, "o1"))
        for number in range(MOST):
            folds.read_current(session, f"none{number}")
        assert folds.read_current(session, "o1").status == "paused"
    assert (read[:2], read[-1]) == ([0, 1], 0)
    place.database.dispose()
