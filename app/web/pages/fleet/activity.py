"""Active runs over all hosts, and what each engine is doing."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.lineups.model import Engine
from app.loop.state import RunState
from app.runtime.runtime import Runtime
from app.store.models import RunRow
from app.web.pages.machine import select_fresh_sample
from app.web.pages.ops.needs import awaits_answer
from app.web.pages.sharing import EngineShare
from app.web.stream.fold_cache import RunStateCache

MOST_FOLDED = 24
"""Most runs to fold for their current item; for others only the row is used."""


@dataclass(frozen=True)
class ActiveRun:
    run: str
    host: str
    state: str
    rollout: str
    item: str
    title: str
    role: str
    """The role that has the turn, or empty."""
    waits: bool
    done: int
    total: int


@dataclass(frozen=True)
class EngineActivity:
    title: str
    runs_on: str
    simulated: bool
    state: str
    share: EngineShare
    rate: float | None
    running: int | None
    waiting: int | None
    kv: float | None


def fold_run_states(folds: RunStateCache, runs: Sequence[RunRow]) -> dict[str, RunState]:
    begun = [run.id for run in runs if run.state != "queued"]
    return {run: folds.read_current(run) for run in begun[:MOST_FOLDED]}


def list_active_runs(
    runs: Sequence[RunRow], states: Mapping[str, RunState], rollouts: Mapping[str, str], titles: Mapping[str, str]
) -> list[ActiveRun]:
    """Return the active runs: waiting for a person first, then running, paused and queued."""
    cards = [_build_active_run(run, states.get(run.id), rollouts.get(run.id, ""), titles) for run in runs]
    turn = {"running": 0, "paused": 1, "queued": 2}
    return sorted(cards, key=lambda card: (not card.waits, turn.get(card.state, 3)))


def _build_active_run(run: RunRow, state: RunState | None, rollout: str, titles: Mapping[str, str]) -> ActiveRun:
    item = state.working or "" if state else ""
    return ActiveRun(
        run=run.id,
        host=run.host,
        state=run.state,
        rollout=rollout,
        item=item,
        title=titles.get(item, ""),
        role=state.turn.role if state and state.turn else "",
        waits=bool(state and awaits_answer(state)),
        done=run.passed + run.escalated + run.skipped + run.deferred,
        total=run.findings,
    )


def list_engine_activity(runtime: Runtime, shares: Mapping[str, EngineShare], now: float) -> list[EngineActivity]:
    engines = runtime.lineup.engines.values()
    return [_build_engine_activity(runtime, engine, shares.get(engine.name, EngineShare()), now) for engine in engines]


def _build_engine_activity(runtime: Runtime, engine: Engine, share: EngineShare, now: float) -> EngineActivity:
    at, sample = runtime.board.engines.get(engine.name, (None, None))
    _, said = runtime.board.states.get(engine.name, (None, None))
    told = select_fresh_sample(sample, said.state if said else "", None if at is None else now - at)
    return EngineActivity(
        title=engine.title,
        runs_on=engine.hardware_label,
        simulated=engine.simulation is not None,
        state=said.state if said else "not seen yet",
        share=share,
        rate=told.tok_s if told else None,
        running=told.running if told else None,
        waiting=told.waiting if told else None,
        kv=None if told is None or told.kv_used is None else 100 * told.kv_used,
    )
