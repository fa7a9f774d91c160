"""The context of the mission page."""

from dataclasses import dataclass

from sqlmodel import col, select

from app.events.event_field_types import Role
from app.events.kinds import KINDS, RebootChecked
from app.lineups.model import Engine
from app.loop.state import RunState
from app.runtime.health_reading import read_faults
from app.runtime.runtime import Runtime
from app.skills.catalog import load_skill
from app.store import run_queries
from app.store.models import RunRow
from app.store.session_shared_within_request import open_read_session
from app.web.pages.changes_since_visit import LastLook
from app.web.pages.engine_meters_and_gpu_cards import render_current_or_past_gpus, render_current_or_past_meters
from app.web.pages.health_watch import build_faulted_run, render_health
from app.web.pages.hosts_sharing_each_engine import Sharing, render_shares_by_engine
from app.web.pages.mission.mission_loader import MissionLoader
from app.web.pages.mission.mission_parts import Scene, render_mission_parts
from app.web.pages.mission.replay_stream import ItemJumps, Replay
from app.web.pages.mission.summary import Summary, read_summary
from app.web.pages.mission.timeline import TimelineView, draw_timeline
from app.web.pages.mission.turn_lane import ROLES
from app.web.pages.run_energy_table import EnergyTable, build_energy_table
from app.web.url_paths import path_to

MOST_LATER = 20
"""Most later scans of the host to search, newest first."""


@dataclass(frozen=True)
class RebootCheck:
    run: str
    seq: int
    text: str


def find_reboot_check(runtime: Runtime, row: RunRow) -> RebootCheck | None:
    """Return the newest reboot check of this run, or None."""
    later = select(RunRow.id).where(
        RunRow.host == row.host, RunRow.mode == "scan", col(RunRow.queued_at) > row.queued_at
    )
    with open_read_session(runtime.database) as session:
        runs = session.exec(later.order_by(col(RunRow.queued_at).desc()).limit(MOST_LATER)).all()
    for run in runs:
        for one in runtime.store.read_events_of_kinds_newest_first(run, None, ["reboot.checked"], 1):
            if isinstance(one.event, RebootChecked) and one.event.of == row.id:
                return RebootCheck(run, one.seq, one.event.describe().text)
    return None


@dataclass(frozen=True, kw_only=True)
class MissionView:
    run: str
    row: RunRow
    mode: str
    """live, ended or replay."""
    seq: int
    last: int
    over: bool
    stream: str | None = None
    """The address of the page's event stream; None for a static page."""
    playing: bool = False
    speed: float | None = None
    jumps: ItemJumps
    simulated: bool
    no_model: bool
    shrunk_at: float | None = None
    pace: float | None
    pieces: dict[str, str]
    health: str = ""
    """What is broken, as HTML; empty unless the page is live."""
    roles: tuple[Role, ...]
    engines: tuple[Engine, ...]
    shares: dict[str, str]
    meters: dict[str, str]
    gpus: str
    now: float
    """The server's clock; the browser's may differ."""
    intro: bool = False
    timeline: TimelineView
    time: float
    """The page's position on the timeline, in seconds of its axis."""
    summary: Summary | None
    """Set for an ended run unless the page shows a moment of it."""
    table: EnergyTable | None
    reboot: RebootCheck | None = None
    shareable: bool = True
    last_look: LastLook | None = None
    """What changed since the reader last looked; None where nobody is to be reminded."""


@dataclass(frozen=True)
class PageRequest:
    at: int | None = None
    speed: float | None = None
    intro: bool = True


def build_mission_view(
    runtime: Runtime, missions: MissionLoader, sharing: Sharing | None, row: RunRow, page_request: PageRequest
) -> MissionView:
    """Build the page's context. `sharing` is None for a guest who may see this run only."""
    at, speed = page_request.at, page_request.speed
    newest = next(iter(runtime.store.read_events_of_kinds_newest_first(row.id, None, KINDS, 1)), None)
    last = newest.seq if newest else 0
    seq = last if at is None else min(at, last)
    mission = missions.load_mission(row.id, seq)
    then = None if at is None else mission.state.at
    over = row.state not in run_queries.UNENDED
    ended = over and at is None
    line, shares = missions.timelines.read_timeline(row.id), (sharing or Sharing(runtime.store)).read_shares_at(then)
    until = newest.at if newest and over else runtime.clock.now()
    mode = "live" if at is None else "replay"
    return MissionView(
        run=row.id,
        row=row,
        mode="replay" if at is not None else ("ended" if ended else "live"),
        seq=seq,
        last=last,
        over=over,
        stream=_build_live_or_replay_stream_address(row.id, seq, replay=at is not None, speed=speed, live_is_over=over),
        playing=at is not None and speed is not None,
        speed=speed,
        jumps=Replay(runtime.store, row.id).find_neighbouring_items(seq, last),
        simulated=row.simulated,
        no_model=mission.state.has_no_model,
        shrunk_at=row.shrunk_at,
        pace=mission.state.request.pace if mission.state.request else None,
        pieces=render_mission_parts(
            mission, Scene(runtime.lineup, load_skill(row.skill), mode, outages=missions.outages.read_outages)
        ),
        health=_render_run_health(runtime, mission.state) if mode == "live" and not over else "",
        roles=ROLES,
        engines=tuple(runtime.lineup.engines.values()),
        shares=render_shares_by_engine(runtime.lineup, shares if sharing else {}),
        meters=render_current_or_past_meters(runtime, shares, then),
        gpus=render_current_or_past_gpus(runtime, then),
        now=round(runtime.clock.now(), 3),
        intro=page_request.intro,
        timeline=draw_timeline(line, until, missions.timelines.read_outages(line, until, runtime.lineup.engines)),
        time=round(line.to_axis_seconds(until if at is None else mission.state.at), 1),
        summary=read_summary(runtime.store, row.id) if ended else None,
        table=build_energy_table(runtime, row) if ended else None,
        reboot=find_reboot_check(runtime, row) if ended and sharing else None,
    )


def _render_run_health(runtime: Runtime, state: RunState) -> str:
    return render_health(read_faults(runtime, state.run), build_faulted_run(runtime, state))


def _build_live_or_replay_stream_address(
    run: str, seq: int, *, replay: bool, speed: float | None, live_is_over: bool
) -> str | None:
    if replay:
        return f"{path_to('run_replay', run=run)}?since={seq}&speed={speed:g}" if speed else None
    return None if live_is_over else f"{path_to('run_page', run=run)}?since={seq}"
