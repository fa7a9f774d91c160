"""The engines of the line-up and their current state."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from fastapi import Path as InPath
from pydantic import Field

from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.simulator_process import SimulatorProcess
from app.events.event_field_types import Provenance, Role
from app.events.kinds import EngineSampled, EngineState, TurnStarted
from app.lineups.model import Engine
from app.machine.gpus.host_memory import RESIDENT_SOURCE
from app.machine.sampling.engine_state_transitions import State
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.web.api.api_model import ApiModel, Figure, Time, create_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, build_problem_responses
from app.web.deps import TheRuntime

router = api_router("machine")

TURN_EDGES = ("turn.started", "turn.finished", "turn.interrupted")


class _SampledFigure(msgspec.Struct):
    """A figure of the view that comes from a field of the engine's sample."""

    field: str
    unit: str
    source: str
    derived: bool = False
    scale: float = 1


class _Tables(msgspec.Struct):
    figures: dict[str, _SampledFigure]
    counters: dict[str, dict[str, str]]


_TABLES = msgspec.toml.decode(Path(__file__).with_name("engine_figures.toml").read_bytes(), type=_Tables)


class EngineView(ApiModel):
    name: str
    title: str
    model: str
    precision: str
    gpus: list[int]
    tp: int
    max_model_len: int = Field(description="Maximum tokens of prompt and answer together.")
    replicas: int
    roles: list[Role]
    serving: list[Role] = Field(description="Roles that the engine is answering now.")
    simulated: bool
    state: State
    detail: str = Field(description="The phase while the engine loads; otherwise what is wrong.")
    since: Time | None
    loaded: Figure = Field(description="Progress of the cold start, while the engine loads.")
    to_go: Figure = Field(description="Time until the engine is ready, while it loads.")
    replica_states: list[str] = Field(description="State of each replica, if there are several.")
    running: int | None = Field(description="Requests in progress.")
    waiting: int | None
    foreign: int | None = Field(description="Requests of other clients, running or waiting.")
    tokens_per_second: Figure
    prompt_tokens_per_second: Figure
    kv_used: Figure
    main_memory: Figure = Field(description="Memory of its process, if the engine runs on the CPU.")
    kv_tokens: Figure = Field(description="Capacity of the KV cache.")
    acceptance_rate: Figure = Field(
        description="Share of drafted tokens that were accepted, in the last second with drafts."
    )
    acceptance_length: Figure = Field(description="Mean tokens per pass of the model.")
    cached_share: Figure = Field(description="Share of prompt tokens found in the prefix cache.")
    prefix_hit_rate: Figure = Field(description="The same share, over all prompts since the engine started.")
    preemptions: int | None
    turns_waiting: int = Field(description="Turns of this process that wait for the engine and are not yet sent.")
    longest_wait: Figure = Field(description="Waiting time of the oldest of these turns.")
    waits_for: str = Field(description="What the oldest of these turns waits for; empty if none waits.")
    limit: Figure = Field(description="Upper limit of the rate of one request, from the memory bandwidth.")


class EngineList(ApiModel):
    engines: list[EngineView]


@router.get("/engines", responses=build_problem_responses())
@viewers
def list_engines(runtime: TheRuntime) -> EngineList:
    """List the engines of the line-up with their current figures."""
    return EngineList(engines=[_to_engine_view(runtime, engine) for engine in runtime.lineup.engines.values()])


@router.get("/engines/{engine}", responses=build_problem_responses("not-found"))
@viewers
def show_engine(engine: Annotated[str, InPath(max_length=100)], runtime: TheRuntime) -> EngineView:
    """Show one engine with its current figures."""
    found = runtime.lineup.engines.get(engine)
    if found is None:
        there = ", ".join(runtime.lineup.engines)
        raise Problem("not-found", f"There is no engine {engine[:40]!a}. The engines are: {there}.", field="engine")
    return _to_engine_view(runtime, found)


@router.post("/engines/{engine}/start", status_code=202, responses=build_problem_responses("not-found", "wrong-state"))
@operators
async def start_engine(engine: Annotated[str, InPath(max_length=100)], runtime: TheRuntime) -> EngineView:
    """Start all replicas of an engine. Loading takes a while; runs wait for it within their budgets.

    One process plays all simulated engines, so they start together."""
    await asyncio.gather(*(one.start() for one in _require_processes(runtime, engine)))
    return await asyncio.to_thread(_to_engine_view, runtime, runtime.lineup.engines[engine])


@router.post("/engines/{engine}/stop", status_code=202, responses=build_problem_responses("not-found", "wrong-state"))
@operators
async def stop_engine(engine: Annotated[str, InPath(max_length=100)], runtime: TheRuntime) -> EngineView:
    """Stop all replicas of an engine and all processes they started. Simulated engines stop together."""
    await asyncio.gather(*(one.stop() for one in _require_processes(runtime, engine)))
    return await asyncio.to_thread(_to_engine_view, runtime, runtime.lineup.engines[engine])


def _require_processes(runtime: Runtime, engine: str) -> Sequence[LaunchedReplica | SimulatorProcess]:
    """Return what this process starts for the engine: its replicas, or the simulator. Raise Problem if it has none."""
    if engine not in runtime.lineup.engines:
        raise Problem("not-found", f"There is no engine {engine[:40]!a}.", field="engine")
    if runtime.simulator and runtime.lineup.engines[engine].simulation is not None:
        return [runtime.simulator]
    if engine not in runtime.launched:
        raise Problem(
            "wrong-state", f"Temper did not start {engine}: start and stop it where it was started.", field="engine"
        )
    return runtime.launched[engine]


def _list_roles_with_open_turns(runtime: Runtime, engine_name: str) -> list[Role]:
    """Return the roles whose open turns use this engine."""
    turns = (
        runtime.store.read_events_of_kinds_newest_first(run, None, TURN_EDGES, 1) for run in runtime.list_unended_runs()
    )
    open_turns = [turn[0].event for turn in turns if turn]
    return [turn.role for turn in open_turns if isinstance(turn, TurnStarted) and turn.engine == engine_name]


def _to_engine_view(runtime: Runtime, engine: Engine) -> EngineView:
    since, state = runtime.board.states.get(engine.name, (None, None))
    at, sample = runtime.board.mark_viewed_and_return_self().engines.get(engine.name, (None, None))
    shown = sample if sample and (state is None or state.state in ("ready", "degraded", "stalled")) else None
    return EngineView.from_source(
        engine,
        precision=engine.precision_label,
        replicas=len(runtime.bases.get(engine.name, ())),
        roles=[seat.role for seat in runtime.lineup.seats.values() if seat.engine == engine.name],
        serving=_list_roles_with_open_turns(runtime, engine.name),
        simulated=engine.simulation is not None,
        state=state.state if state else "absent",
        detail=state.detail if state else "not looked at yet",
        since=since,
        replica_states=list(state.replicas) if state else [],
        **{name: getattr(shown, name, None) for name in ("running", "waiting", "foreign", "preemptions")},
        limit=create_figure(engine.limit_tok_s, "token/s", "derived", engine.limit_source, None),
        **_create_loaded_share_and_remaining_figures(engine, state, since),
        **_create_sample_figures(engine, shown, at if shown else None),
        **_create_queue_figures(runtime, engine),
    )


def _create_loaded_share_and_remaining_figures(
    engine: Engine, state: EngineState | None, since: float | None
) -> dict[str, Any]:
    kind: Provenance = "simulated" if engine.simulation else "estimated"
    share, eta = (state.share, state.eta_s) if state else (None, None)
    source = "earlier cold starts on this machine"
    return {
        "loaded": create_figure(_scale_and_round_value(share, 100), "%", kind, source, since),
        "to_go": create_figure(_scale_and_round_value(eta), "s", kind, source, since),
    }


def _create_sample_figures(engine: Engine, sample: EngineSampled | None, at: float | None) -> dict[str, Any]:
    named = _select_token_counter_names(engine) | {"resident": RESIDENT_SOURCE}
    figures = {}
    for name, one in _TABLES.figures.items():
        kind: Provenance = "simulated" if engine.simulation else "derived" if one.derived else "measured"
        value = _scale_and_round_value(getattr(sample, one.field, None), one.scale)
        figures[name] = create_figure(value, one.unit, kind, one.source.format(**named), at)
    return figures


def _select_token_counter_names(engine: Engine) -> dict[str, str]:
    if engine.is_endpoint:
        return _TABLES.counters["server" if engine.metrics_urls else "own"]
    return _TABLES.counters["llamacpp" if engine.is_on_cpu else "vllm"]


def _create_queue_figures(runtime: Runtime, engine: Engine) -> dict[str, Any]:
    queue = runtime.queues.get_queue(engine.name).status
    longest, now = round(queue.longest, 3) if queue.waiting else None, runtime.clock.now()
    return {
        "turns_waiting": queue.waiting,
        "longest_wait": create_figure(longest, "s", "measured", "Temper's own queue", now),
        "waits_for": queue.why,
    }


def _scale_and_round_value(value: float | None, scale: float = 1) -> float | None:
    return None if value is None else round(scale * value, 2)
