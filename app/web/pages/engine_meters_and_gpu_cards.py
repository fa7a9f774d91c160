"""Cards of engines and GPUs that several pages share, for now or for a replayed moment."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Protocol

from fastapi import APIRouter, Query
from starlette.responses import HTMLResponse

from app.engines.queue import QueueStatus
from app.events.kinds import EngineSampled, EngineState
from app.lineups.model import Lineup
from app.machine.sampling.engine_outages_from_log import compute_outage_begin
from app.machine.sampling.sample_board import POWER_SECONDS, Board
from app.people.rights import can_see_run, guests
from app.runtime.runtime import Runtime
from app.store.events import EventStore
from app.web.deps import TheRuntime
from app.web.pages.engine_card import SILENT, STALE_SECONDS, TROUBLE, scale_speed_limit, select_current_sample
from app.web.pages.gpu_cards import render_gpu_cards
from app.web.pages.hosts_sharing_each_engine import EngineShare, Sharing, TheSharing, render_shares_by_engine
from app.web.pages.live_parts import wrap_partials
from app.web.pages.mission.mission_loader import TheMissions, TheMoment
from app.web.pages.templating import render_template_to_text

STATE_SECONDS = 3600.0
"""How far back to look for an engine's state, which is logged only when it changes."""

router = APIRouter(include_in_schema=False)


class RunArchive(Protocol):
    """What a past run is shown from: the log, and the line-up of its engines. A runtime is one."""

    @property
    def store(self) -> EventStore: ...
    @property
    def lineup(self) -> Lineup: ...


@router.get("/machine", name="machine")
@guests
def show_machine_cards(
    runtime: TheRuntime,
    missions: TheMissions,
    sharing: TheSharing,
    moment: TheMoment,
    run: Annotated[str, Query(max_length=40)] = "",
) -> HTMLResponse:
    """Render the engine and GPU cards. The page polls this every two seconds; a replay passes its run and moment."""
    then = missions.find_time_of_moment_or_newest_event(run, moment) if run and can_see_run(run) else None
    shares, hosts = sharing or Sharing(runtime.store), sharing is not None

    def render_parts() -> str:
        return wrap_partials(render_current_or_past_machine_parts(runtime, shares, show_hosts=hosts, at=then))

    return HTMLResponse(runtime.board.draw_once_a_second(render_parts) if hosts and then is None else render_parts())


def render_current_or_past_machine_parts(
    runtime: Runtime, sharing: Sharing, *, show_hosts: bool, at: float | None = None
) -> dict[str, str]:
    """Return the cards of GPUs and engines, now or at a past time, as inner HTML by element id."""
    return {
        "gpus": render_current_or_past_gpus(runtime, at),
        **render_engine_meters_and_users(runtime, sharing, show_hosts=show_hosts, at=at),
    }


def render_engine_meters_and_users(
    runtime: Runtime, sharing: Sharing, *, show_hosts: bool, at: float | None = None
) -> dict[str, str]:
    """Return the meters of the engines, and unless `show_hosts` is False which hosts use them, by element id."""
    shares = sharing.read_shares_at(at)
    parts = _prefix_engine_ids("meter", render_current_or_past_meters(runtime, shares, at))
    return parts | _prefix_engine_ids("share", render_shares_by_engine(runtime.lineup, shares)) if show_hosts else parts


def render_past_machine_parts(archive: RunArchive, at: float) -> dict[str, str]:
    meters = render_past_meters(archive, at, Sharing(archive.store).read_past_shares_by_engine(at))
    return {"gpus": render_past_machine_gpus(archive, at), **_prefix_engine_ids("meter", meters)}


def _prefix_engine_ids(prefix: str, html_by_engine: Mapping[str, str]) -> dict[str, str]:
    return {f"{prefix}-{engine}": html for engine, html in html_by_engine.items()}


def render_current_or_past_meters(
    runtime: Runtime, shares: Mapping[str, EngineShare], at: float | None = None
) -> dict[str, str]:
    if at is not None:
        return render_past_meters(runtime, at, shares)
    now, drawn, board = runtime.clock.now(), {}, runtime.board.mark_viewed_and_return_self()
    for name, engine in runtime.lineup.engines.items():
        limit = scale_speed_limit(engine, runtime.settings.speed)
        told = read_meter(board, name, now, shares)
        drawn[name] = render_meter(told, speed_limit=limit, queue_status=runtime.queues.get_queue(name).status)
    return drawn


def render_past_meters(archive: RunArchive, at: float, shares: Mapping[str, EngineShare]) -> dict[str, str]:
    then = _read_past_board(archive, at, {"engine.sample": STALE_SECONDS, "engine.state": STATE_SECONDS})
    return {name: render_meter(read_meter(then, name, at, shares), past=True) for name in archive.lineup.engines}


def _read_past_board(archive: RunArchive, at: float, seconds_by_kind: Mapping[str, float]) -> Board:
    """Return what was sampled of each kind within its number of seconds before `at`."""
    then = Board()
    for kind, seconds in seconds_by_kind.items():
        then.apply_batch(archive.store.read_samples(at - seconds, at, (kind,)))
    return then


@dataclass(frozen=True)
class Meter:
    """What is known of an engine at a moment."""

    sample: EngineSampled | None
    """The newest one, if it describes the moment."""
    state: str
    """Empty if the engine has not been seen."""
    age: float | None
    """Seconds since the newest sample, whether it describes the moment or not."""
    silent_since: float | None = None
    """When it stopped to answer; None if it answers."""

    @property
    def is_engine_silent(self) -> bool:
        return self.state in SILENT

    @property
    def is_stale(self) -> bool:
        return self.age is not None and self.age > STALE_SECONDS


def read_meter(board: Board, engine: str, now: float, shares: Mapping[str, EngineShare]) -> Meter:
    sampled, sample = board.engines.get(engine, (None, None))
    at, event = board.states.get(engine, (now, EngineState(engine=engine, state="")))
    age = None if sampled is None else max(0.0, now - sampled)
    current = select_current_sample(sample, event.state, age, shares.get(engine, EngineShare()))
    since = compute_outage_begin(at, event.state) if event.state in SILENT else None
    return Meter(current, event.state, age, since)


def render_meter(
    meter: Meter, *, speed_limit: float | None = None, queue_status: QueueStatus | None = None, past: bool = False
) -> str:
    """Render an engine's meter. What does not describe the moment is shown as unknown."""
    sample = meter.sample
    rate = sample.tok_s if sample else None
    age = "never sampled" if meter.age is None else f"{meter.age:.0f} s old"
    alone = sample is not None and sample.running == 1
    context = {
        "meter": meter,
        "sample": sample,
        "rate": rate,
        "share": 100 * rate / speed_limit if rate and speed_limit and alone and rate <= speed_limit else None,
        "queue": queue_status if queue_status and queue_status.waiting else None,
        "trouble": meter.state in TROUBLE,
        "age": "at the moment of the replay" if past else age,
        "simulated": bool(sample and sample.simulated),
        "past": past,
    }
    return render_template_to_text("partials/_meter.html", **context)


def render_current_or_past_gpus(runtime: Runtime, at: float | None = None) -> str:
    if at is not None:
        return render_past_machine_gpus(runtime, at)
    board = runtime.board.mark_viewed_and_return_self()
    return render_gpu_cards([event for _, event in board.gpus.values()], board.power, board.gpu_reason)


def render_past_machine_gpus(archive: RunArchive, at: float) -> str:
    board = _read_past_board(archive, at, {"gpu.sample": POWER_SECONDS})
    reason = "" if board.gpus else "No GPU was read at that time."
    return render_gpu_cards([event for _, event in board.gpus.values()], board.power, reason)
