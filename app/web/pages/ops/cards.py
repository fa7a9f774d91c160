"""Cards and rows of runs, engines and GPUs on the operator's console."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from app.engines.queue import QueueStatus
from app.lineups.model import Engine
from app.loop.state import RunState
from app.machine.sampling.sample_board import Board
from app.runtime.runtime import Runtime
from app.web.pages.gpu_card import draw_power_line
from app.web.pages.gpu_memory import GpuMemory, build_memory_cards
from app.web.pages.machine import TROUBLE, scale_speed_limit, select_fresh_sample
from app.web.pages.ops.needs import awaits_answer
from app.web.pages.sharing import EngineShare

OUTCOMES = ("passed", "escalated", "skipped", "deferred", "waived", "working")


@dataclass(frozen=True)
class RunCard:
    run: str
    host: str
    mode: str
    status: str
    working: str
    since: float | None
    waits: bool
    done: int
    total: int
    parts: tuple[tuple[str, float, float], ...]
    """Outcome, start and width of its part of the bar, in percent."""


@dataclass(frozen=True)
class EngineCard:
    name: str
    title: str
    model: str
    about: str
    roles: tuple[str, ...]
    serving: tuple[str, ...]
    """Roles that it serves now."""
    share: EngineShare
    state: str
    detail: str
    trouble: bool
    since: float | None
    rate: float | None
    limit: float | None
    pace: float | None
    running: int | None
    waiting: int | None
    kv: float | None
    wait: float | None
    """Median time to first token over the last 15 minutes, in seconds."""
    waits: int
    """Number of samples in that median."""
    hits: float | None
    """Prefix cache hit rate since the engine started, in percent."""
    queue: QueueStatus
    gpus: str
    simulated: bool
    handle: str
    """start or stop if this process launched the engine, else empty."""


@dataclass(frozen=True)
class GpuRow:
    memory: GpuMemory
    share: float | None
    utilization: float | None
    power: float | None
    power_limit: float | None
    temperature: float | None
    line: str
    at: float


def build_run_card(state: RunState) -> RunCard:
    counts = {name: sum(item.status == name for item in state.items.values()) for name in OUTCOMES}
    total = len(state.items)
    return RunCard(
        run=state.run,
        host=state.request.host if state.request else "—",
        mode=state.request.mode if state.request else "—",
        status=state.status,
        working=state.working or "",
        since=state.started_at,
        waits=awaits_answer(state),
        done=total - counts["working"] - sum(item.status == "waiting" for item in state.items.values()),
        total=total,
        parts=tuple(_draw_outcome_bar(counts, total)),
    )


def _draw_outcome_bar(counts: Mapping[str, int], total: int) -> Iterator[tuple[str, float, float]]:
    left = 0.0
    for name, count in counts.items():
        width = 100 * count / total if total else 0.0
        if width:
            yield name, round(left, 2), round(width, 2)
        left += width


def build_engine_card(runtime: Runtime, engine: Engine, share: EngineShare, now: float) -> EngineCard:
    board, name = runtime.board, engine.name
    since, state = board.states.get(name, (None, None))
    at, sample = board.engines.get(name, (None, None))
    told = select_fresh_sample(sample, state.state if state else "", None if at is None else now - at)
    known = [wait for _, wait in board.waits.get(name, ())]
    return EngineCard(
        name=name,
        title=engine.title,
        model=engine.model,
        about=f"{engine.precision_label}, tp {engine.tp}, context {engine.max_model_len}",
        roles=tuple(role for role, seat in runtime.lineup.seats.items() if seat.engine == name),
        serving=tuple(dict.fromkeys(one.role for one in share.serving)) if told else (),
        share=share,
        state=state.state if state else "not seen yet",
        detail=state.detail if state else "",
        trouble=bool(state and state.state in TROUBLE),
        since=since,
        rate=told.tok_s if told else None,
        limit=scale_speed_limit(engine, runtime.settings.speed),
        pace=runtime.settings.speed if engine.simulation and runtime.settings.speed != 1 else None,
        running=told.running if told else None,
        waiting=told.waiting if told else None,
        kv=None if told is None or told.kv_used is None else 100 * told.kv_used,
        wait=median(known) if known else None,
        waits=len(known),
        hits=None if sample is None or sample.prefix_hit_rate is None else 100 * sample.prefix_hit_rate,
        queue=runtime.queues.get_queue(name).status,
        gpus=" + ".join(map(str, engine.gpus)),
        simulated=engine.simulation is not None,
        handle=_choose_engine_verb(runtime, name, state.state if state else ""),
    )


def _choose_engine_verb(runtime: Runtime, engine: str, state: str) -> str:
    if engine not in runtime.launched:
        return ""
    return "start" if state in ("dead", "absent", "") else "stop"


def build_gpu_rows(runtime: Runtime) -> list[GpuRow]:
    board = runtime.board
    return [_build_gpu_row(board, key, card) for key, card in build_memory_cards(runtime).items()]


def _build_gpu_row(board: Board, key: tuple[str, int], card: GpuMemory) -> GpuRow:
    at, event = board.gpus[key]
    share = 100 * event.used_gib / event.total_gib if event.used_gib is not None and event.total_gib else None
    return GpuRow(
        memory=card,
        share=None if share is None else round(share, 1),
        utilization=event.utilization,
        power=event.power_w,
        power_limit=event.power_limit_w,
        temperature=event.temperature_c,
        line=draw_power_line(board.power.get(key, ())),
        at=at,
    )
