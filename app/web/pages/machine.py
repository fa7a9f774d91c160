"""Cards of engines and GPUs that several pages share, for now or for a replayed moment."""

from collections.abc import Mapping
from typing import Annotated, Protocol

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from app.engines.queue import QueueStatus
from app.events.kinds import KINDS, EngineSampled
from app.lineups.model import Lineup
from app.machine.sampling.sample_board import POWER_SECONDS, Board
from app.people.rights import can_see_run, guests
from app.runtime.runtime import Runtime
from app.store.events import EventStore
from app.web.deps import TheRuntime
from app.web.pages.engine_card import TROUBLE, scale_speed_limit, select_fresh_sample
from app.web.pages.engine_sharing import Sharing, TheSharing, render_shares
from app.web.pages.gpu_cards import render_gpu_cards
from app.web.pages.live_parts import wrap_partials
from app.web.pages.mission.mission_loader import MissionLoader, TheMissions
from app.web.pages.templating import render_template
from app.web.stream.resume_position import MOST_SEQ

STALE_SECONDS = 12.0
"""Older samples do not describe the present. Without viewers one is taken every ten seconds."""
STATE_SECONDS = 3600.0
"""How far back to look for an engine's state, which is logged only when it changes."""

Seconds = Annotated[float | None, Query(ge=0, le=1e9, allow_inf_nan=False)]

router = APIRouter(include_in_schema=False)


class RunArchive(Protocol):
    """What a past run is shown from: the log, and the line-up of its engines. A runtime is one."""

    @property
    def store(self) -> EventStore: ...
    @property
    def lineup(self) -> Lineup: ...


@router.get("/machine", name="machine")
@guests
def show_machine(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    run: Annotated[str, Query(max_length=40)] = "",
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None,
    t: Seconds = None,
    w: Seconds = None,
) -> HTMLResponse:
    """Render the engine and GPU cards. The page polls this every two seconds; a replay passes its run and moment."""
    then = _find_moment_time(runtime, missions, run, at, t, w) if run and can_see_run(run) else None

    if then is None and sharing is None:
        return HTMLResponse(wrap_partials(render_machine_parts(runtime)))

    def render_parts() -> str:
        return wrap_partials(render_machine_parts(runtime, then) | render_share_parts(runtime, sharing, then))

    return HTMLResponse(render_parts() if then is not None else runtime.board.draw_once_a_second(render_parts))


def _find_moment_time(
    runtime: Runtime, missions: MissionLoader, run: str, at: int | None, t: float | None, w: float | None
) -> float | None:
    """Return the time of the event `at`, of `t` seconds after the run was queued, or of `w` seconds on its timeline.

    Return None if there is no event."""
    if w is not None and at is None:
        line = missions.timelines.read_timeline(run)
        return line.to_time(w) if line.seq else None
    told = runtime.store.read_newest(run, at if t is None else 1, KINDS, 1)
    return told[0].at + (t or 0) if told else None


def render_machine_parts(runtime: Runtime, at: float | None = None) -> dict[str, str]:
    """Return the GPU and engine cards, now or at a past time, as inner HTML by element id."""
    if at is not None:
        return render_past_machine_parts(runtime, at)
    return {"gpus": render_gpus(runtime), **_prefix_meters(render_meters(runtime))}


def render_past_machine_parts(archive: RunArchive, at: float) -> dict[str, str]:
    return {"gpus": render_past_gpus(archive, at), **_prefix_meters(render_past_meters(archive, at))}


def _prefix_meters(meters: Mapping[str, str]) -> dict[str, str]:
    return {f"meter-{name}": html for name, html in meters.items()}


def render_share_parts(runtime: Runtime, sharing: Sharing | None, at: float | None = None) -> dict[str, str]:
    return {f"share-{name}": html for name, html in render_shares(runtime.lineup, sharing, at).items()}


def render_meters(runtime: Runtime, at: float | None = None) -> dict[str, str]:
    if at is not None:
        return render_past_meters(runtime, at)
    now, drawn, board = runtime.clock.now(), {}, runtime.board.mark_viewed()
    for name, engine in runtime.lineup.engines.items():
        sampled, sample = board.engines.get(name, (None, None))
        _, state = board.states.get(name, (None, None))
        limit = scale_speed_limit(engine, runtime.settings.speed)
        queue, age = runtime.queues.get_queue(name).status, now - sampled if sampled else None
        drawn[name] = render_meter(sample, state.state if state else "not seen yet", age, limit=limit, queue=queue)
    return drawn


def render_past_meters(archive: RunArchive, at: float) -> dict[str, str]:
    then = _read_past_board(archive, at, {"engine.sample": STALE_SECONDS, "engine.state": STATE_SECONDS})
    return {name: _render_past_meter(then, name) for name in archive.lineup.engines}


def _render_past_meter(then: Board, engine: str) -> str:
    (_, sample), (_, state) = then.engines.get(engine, (0.0, None)), then.states.get(engine, (0.0, None))
    return render_meter(sample, state.state if state else "—", None, "at the moment of the replay")


def _read_past_board(archive: RunArchive, at: float, kinds: Mapping[str, float]) -> Board:
    """Return what was sampled of each kind within its number of seconds before `at`."""
    then = Board()
    for kind, seconds in kinds.items():
        then.apply_batch(archive.store.read_samples(at - seconds, at, (kind,)))
    return then


def render_meter(
    sample: EngineSampled | None,
    state: str,
    age: float | None,
    then: str = "never sampled",
    limit: float | None = None,
    queue: QueueStatus | None = None,
) -> str:
    """Render an engine's meter. Stale figures stay visible and are marked; a stale token rate is hidden."""
    flows = select_fresh_sample(sample, state, age)
    rate = flows.tok_s if flows else None
    alone = flows is not None and flows.running == 1
    context = {
        "sample": sample,
        "rate": rate,
        "share": 100 * rate / limit if rate and limit and alone and rate <= limit else None,
        "state": state,
        "queue": queue if queue and queue.waiting else None,
        "trouble": state in TROUBLE,
        "age": then if age is None else f"{age:.0f} s old",
        "old": age is not None and age > STALE_SECONDS,
        "simulated": bool(sample and sample.simulated),
    }
    return render_template("partials/_meter.html", **context)


def render_gpus(runtime: Runtime, at: float | None = None) -> str:
    if at is not None:
        return render_past_gpus(runtime, at)
    board = runtime.board.mark_viewed()
    return render_gpu_cards([event for _, event in board.gpus.values()], board.power, board.gpu_reason)


def render_past_gpus(archive: RunArchive, at: float) -> str:
    board = _read_past_board(archive, at, {"gpu.sample": POWER_SECONDS})
    reason = "" if board.gpus else "No GPU was read at that time."
    return render_gpu_cards([event for _, event in board.gpus.values()], board.power, reason)
