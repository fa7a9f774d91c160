"""All that the mission page shows, in one object."""

import time
from dataclasses import dataclass

from app.events.words import Role
from app.lineups.model import Engine
from app.runtime.runtime import Runtime
from app.skills.catalog import skill
from app.store import queries
from app.store.models import RunRow
from app.web.pages.machine import gpus_now, gpus_then, meters, meters_then
from app.web.pages.mission.lane import ROLES
from app.web.pages.mission.missions import Missions
from app.web.pages.mission.pieces import Scene, pieces
from app.web.pages.mission.replay import Jumps, Replay


@dataclass(frozen=True)
class MissionView:
    run: str
    mode: str
    """live, ended or replay."""
    seq: int
    last: int
    over: bool
    stream: str | None
    """Where the page's messages come from; None for one that stands still."""
    playing: bool
    speed: float | None
    jumps: Jumps
    simulated: bool
    shrunk_at: float | None
    pace: float | None
    pieces: dict[str, str]
    roles: tuple[Role, ...]
    engines: tuple[Engine, ...]
    meters: dict[str, str]
    gpus: str
    now: float
    """The server's clock, which a browser's may not agree with."""
    intro: bool
    """The introduction is open."""


def mission_view(
    runtime: Runtime, missions: Missions, row: RunRow, at: int | None, speed: float | None, *, intro: bool
) -> MissionView:
    newest = runtime.store.last(row.id)
    last = newest[0] if newest else 0
    seq = last if at is None else min(at, last)
    mission = missions.at(row.id, seq)
    over = row.state not in queries.UNENDED
    return MissionView(
        run=row.id,
        mode="replay" if at is not None else ("ended" if over else "live"),
        seq=seq,
        last=last,
        over=over,
        stream=_stream(row.id, seq, replay=at is not None, speed=speed, over=over),
        playing=at is not None and speed is not None,
        speed=speed,
        jumps=Replay(runtime.store, row.id).jumps(seq, last),
        simulated=row.simulated,
        shrunk_at=row.shrunk_at,
        pace=mission.state.request.pace if mission.state.request else None,
        pieces=pieces(mission, Scene(runtime.lineup, skill(row.skill), "live" if at is None else "replay")),
        roles=ROLES,
        engines=tuple(runtime.lineup.engines.values()),
        meters=meters(runtime) if at is None else meters_then(runtime, mission.state.at),
        gpus=gpus_now(runtime) if at is None else gpus_then(runtime, mission.state.at),
        now=round(time.time(), 3),
        intro=intro,
    )


def _stream(run: str, seq: int, *, replay: bool, speed: float | None, over: bool) -> str | None:
    if replay:
        return f"/runs/{run}/replay?since={seq}&speed={speed:g}" if speed else None
    return None if over else f"/runs/{run}/page?since={seq}"
