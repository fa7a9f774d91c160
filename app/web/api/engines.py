"""The line-up and the current state of its engines."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Path
from pydantic import Field

from app.engines.launch.launched_replica import LaunchedReplica
from app.events.kinds import TurnStarted
from app.events.vocabulary import Provenance, Role
from app.lineups.model import Engine
from app.machine.gpus.host_memory import RESIDENT_SOURCE
from app.people.rights import operators, viewers
from app.runtime.runtime import Runtime
from app.web.api.api_model import ApiModel, Figure, create_figure, format_time
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import Problem, document_problems
from app.web.deps import TheRuntime

router = api_router("machine")

TURN_EDGES = ("turn.started", "turn.finished", "turn.interrupted")

State = Literal["absent", "loading", "ready", "degraded", "stalled", "dead"]


@dataclass(frozen=True)
class CounterNames:
    """The counters behind the rates, as named in a figure's source."""

    written: str
    read: str


_VLLM = CounterNames("vllm:generation_tokens_total", "vllm:prompt_tokens_total")
_LLAMACPP = CounterNames(
    "llamacpp:tokens_predicted_total with what /slots has in flight",
    "llamacpp:prompt_tokens_total and prompt_tokens_cached_total",
)


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
    since: str | None
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


class GpuOfLineup(ApiModel):
    index: int
    kind: str
    memory: Figure
    bandwidth: Figure


class SeatView(ApiModel):
    role: Role
    engine: str
    temperature: float = Field(description="The configured value, not a measurement.")
    max_tokens: int


class LineupView(ApiModel):
    name: str
    title: str
    note: str
    simulated: bool
    gpus: list[GpuOfLineup]
    engines: list[str]
    seats: list[SeatView]


@router.get("/lineup", responses=document_problems())
@viewers
def show_lineup(runtime: TheRuntime) -> LineupView:
    """Show which roles use which engines on which GPUs."""
    lineup = runtime.lineup
    said = f"line-up {lineup.name}"
    return LineupView(
        name=lineup.name,
        title=lineup.title,
        note=lineup.note,
        simulated=lineup.simulated,
        gpus=[
            GpuOfLineup(
                index=gpu.index,
                kind=gpu.kind,
                memory=create_figure(gpu.memory_gib, "GiB", "estimated", said, None),
                bandwidth=create_figure(gpu.bandwidth_gb_s, "GB/s", "estimated", said, None),
            )
            for gpu in lineup.gpus
        ],
        engines=list(lineup.engines),
        seats=[
            SeatView(role=seat.role, engine=seat.engine, temperature=seat.temperature, max_tokens=seat.max_tokens)
            for seat in lineup.seats.values()
        ],
    )


@router.get("/engines", responses=document_problems())
@viewers
def list_engines(runtime: TheRuntime) -> EngineList:
    return EngineList(engines=[_to_engine_view(runtime, engine) for engine in runtime.lineup.engines.values()])


@router.get("/engines/{engine}", responses=document_problems("not-found"))
@viewers
def show_engine(engine: Annotated[str, Path(max_length=100)], runtime: TheRuntime) -> EngineView:
    found = runtime.lineup.engines.get(engine)
    if found is None:
        there = ", ".join(runtime.lineup.engines)
        raise Problem("not-found", f"There is no engine {engine[:40]!a}. The engines are: {there}.", field="engine")
    return _to_engine_view(runtime, found)


@router.post("/engines/{engine}/start", status_code=202, responses=document_problems("not-found", "wrong-state"))
@operators
async def start_engine(engine: Annotated[str, Path(max_length=100)], runtime: TheRuntime) -> EngineView:
    """Start all replicas of an engine. Loading takes a while; runs wait for it within their budgets."""
    await asyncio.gather(*(one.start() for one in _require_launched(runtime, engine)))
    return await asyncio.to_thread(_to_engine_view, runtime, runtime.lineup.engines[engine])


@router.post("/engines/{engine}/stop", status_code=202, responses=document_problems("not-found", "wrong-state"))
@operators
async def stop_engine(engine: Annotated[str, Path(max_length=100)], runtime: TheRuntime) -> EngineView:
    """Stop all replicas of an engine and all processes they started."""
    await asyncio.gather(*(one.stop() for one in _require_launched(runtime, engine)))
    return await asyncio.to_thread(_to_engine_view, runtime, runtime.lineup.engines[engine])


def _require_launched(runtime: Runtime, engine: str) -> list[LaunchedReplica]:
    if engine not in runtime.lineup.engines:
        raise Problem("not-found", f"There is no engine {engine[:40]!a}.", field="engine")
    if engine not in runtime.launched:
        raise Problem(
            "wrong-state", f"Temper did not start {engine}: start and stop it where it was started.", field="engine"
        )
    return runtime.launched[engine]


def _find_serving_roles(runtime: Runtime, engine: str) -> list[Role]:
    """Return the roles whose open turns use this engine."""
    turns = (runtime.store.read_newest(run, None, TURN_EDGES, 1) for run in runtime.list_unended_runs())
    open_turns = [turn[0].event for turn in turns if turn]
    return [turn.role for turn in open_turns if isinstance(turn, TurnStarted) and turn.engine == engine]


def _to_engine_view(runtime: Runtime, engine: Engine) -> EngineView:
    since, state = runtime.board.states.get(engine.name, (None, None))
    at, sample = runtime.board.mark_viewed().engines.get(engine.name, (None, None))
    simulated = engine.simulation is not None
    derived, read = ("simulated", "simulated") if simulated else ("derived", "measured")
    queue = runtime.queues.get_queue(engine.name).status
    counted = _LLAMACPP if engine.is_on_cpu else _VLLM
    told = sample if sample and (state is None or state.state in ("ready", "degraded", "stalled")) else None

    def to_sample_figure(name: str, unit: str, provenance: str, source: str, scale: float = 1) -> Figure:
        value = getattr(told, name, None)
        kind: Provenance = provenance  # type: ignore[assignment]
        return create_figure(
            None if value is None else round(scale * value, 2), unit, kind, source, at if told else None
        )

    def to_estimate_figure(value: float | None, unit: str, scale: float = 1) -> Figure:
        kind: Provenance = "simulated" if simulated else "estimated"
        shown = None if value is None else round(scale * value, 2)
        return create_figure(shown, unit, kind, "earlier cold starts on this machine", since)

    return EngineView(
        name=engine.name,
        title=engine.title,
        model=engine.model,
        precision=engine.precision_label,
        gpus=list(engine.gpus),
        tp=engine.tp,
        max_model_len=engine.max_model_len,
        replicas=len(runtime.bases.get(engine.name, ())),
        roles=[seat.role for seat in runtime.lineup.seats.values() if seat.engine == engine.name],
        serving=_find_serving_roles(runtime, engine.name),
        simulated=simulated,
        state=state.state if state else "absent",  # type: ignore[arg-type]
        detail=state.detail if state else "not looked at yet",
        since=format_time(since),
        loaded=to_estimate_figure(state.share if state else None, "%", 100),
        to_go=to_estimate_figure(state.eta_s if state else None, "s"),
        replica_states=list(state.replicas) if state else [],
        running=told.running if told else None,
        waiting=told.waiting if told else None,
        foreign=told.foreign if told else None,
        preemptions=told.preemptions if told else None,
        tokens_per_second=to_sample_figure("tok_s", "token/s", derived, f"growth of {counted.written}"),
        prompt_tokens_per_second=to_sample_figure("prompt_tok_s", "token/s", derived, f"growth of {counted.read}"),
        kv_used=to_sample_figure("kv_used", "%", read, "vllm:kv_cache_usage_perc", 100),
        main_memory=to_sample_figure("resident_gib", "GiB", read, RESIDENT_SOURCE),
        kv_tokens=to_sample_figure("kv_tokens", "token", read, "vllm:cache_config_info, kv_cache_size_tokens"),
        acceptance_rate=to_sample_figure(
            "acceptance_rate", "%", derived, "growth of accepted over growth of drafted tokens", 100
        ),
        acceptance_length=to_sample_figure(
            "acceptance_length", "token", derived, "1 + growth of accepted tokens over drafts"
        ),
        cached_share=to_sample_figure("cached_share", "%", derived, "growth of prefix cache hits over queries", 100),
        prefix_hit_rate=to_sample_figure(
            "prefix_hit_rate", "%", derived, "prefix cache hits over queries, since its start", 100
        ),
        turns_waiting=queue.waiting,
        longest_wait=create_figure(
            round(queue.longest, 3) if queue.waiting else None,
            "s",
            "measured",
            "Temper's own queue",
            runtime.clock.now(),
        ),
        waits_for=queue.why,
        limit=create_figure(engine.limit_tok_s, "token/s", "derived", engine.limit_source, None),
    )
