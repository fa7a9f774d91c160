"""Active runs over all hosts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.loop.state import RunState
from app.store.models import RunRow
from app.web.pages.ops.needs import awaits_answer
from app.web.stream.fold_cache import RunStateCache

MOST_FOLDED = 24
"""Most runs to fold for their current item; for others only the row is used."""


@dataclass(frozen=True)
class ActiveRun:
    row: RunRow
    item: str
    title: str
    role: str
    """The role that has the turn, or empty."""
    waits: bool


def fold_run_states(folds: RunStateCache, runs: Sequence[RunRow]) -> dict[str, RunState]:
    begun = [run.id for run in runs if run.state != "queued"]
    return {run: folds.read_current(run) for run in begun[:MOST_FOLDED]}


def list_active_runs(
    runs: Sequence[RunRow], states: Mapping[str, RunState], titles: Mapping[str, str]
) -> list[ActiveRun]:
    """Return the active runs: waiting for a person first, then running, paused and queued."""
    cards = [_build_active_run(run, states.get(run.id), titles) for run in runs]
    turn = {"running": 0, "paused": 1, "queued": 2}
    return sorted(cards, key=lambda card: (not card.waits, turn.get(card.row.state, 3)))


def _build_active_run(run: RunRow, state: RunState | None, titles: Mapping[str, str]) -> ActiveRun:
    if state is None:
        return ActiveRun(run, "", "", "", waits=False)
    item = state.working or ""
    return ActiveRun(run, item, titles.get(item, ""), state.turn.role if state.turn else "", awaits_answer(state))
