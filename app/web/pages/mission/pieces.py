"""Pieces of the mission page that update on their own; the page and its stream render the same templates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.lineups.model import Engine, Lineup
from app.machine.sampling.engine_outages import EngineOutage
from app.skills.skill import Skill
from app.targets.host_registry import is_fixture
from app.web.pages.mission.caption import write_caption
from app.web.pages.mission.engine_holds import HOLD_SECONDS, draw_hold_bars
from app.web.pages.mission.lane import ROLES, Lane
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.progress import count_rollbacks, measure_progress
from app.web.pages.templating import render_template


def build_engine_label(
    mission: Mission, engine: Engine, lineup: Lineup, outages: Sequence[EngineOutage] = ()
) -> dict[str, object]:
    holds = mission.holds.by_engine.get(engine.name, [])
    now = mission.state.at
    last = holds[-1] if holds else None
    live = last if last and last.until is None else None
    broken = [one for one in outages if one.engine == engine.name]
    seated = [role for role, seat in lineup.seats.items() if seat.engine == engine.name]
    return {
        "engine": engine,
        "roles": seated,
        "serving": live.role if live else None,
        "replica": live.replica + 1 if live and len(engine.replicas) > 1 else None,
        "reading": bool(live and live.first is None),
        "rows": [
            (role, draw_hold_bars([one for one in holds if one.role == role], now, HOLD_SECONDS, broken))
            for role in seated
        ],
        "minutes": int(HOLD_SECONDS / 60),
        "turn": mission.newest.get(engine.name),
        "pace": mission.state.request.pace if mission.state.request else None,
        "simulated": bool(mission.state.request and mission.state.request.simulated),
    }


STEPS = {"architect": "Plan", "worker": "Change", "auditor": "Verify", "sentry": "Watch"}
"""The name of each role's step."""


@dataclass(frozen=True)
class Scene:
    """Context that stays constant while a run is watched."""

    lineup: Lineup
    skill: Skill
    mode: str
    """live, replay or ended."""
    shares: Callable[[], Mapping[str, str]] = dict
    """Renders the engines' shares over all hosts, to be sent with each update of this run."""
    outages: Callable[[float], Sequence[EngineOutage]] = lambda _: ()
    """Reads when engines were broken in the two minutes before a time."""
    sends_timeline: bool = False
    """Whether what changes on the timeline is sent with each update of this run."""


def render_pieces(mission: Mission, scene: Scene) -> dict[str, str]:
    """Return inner HTML by element id."""
    here = {"mission": mission, "scene": scene}
    drawn = {
        "status": _render_status(mission, scene),
        "progress": render_template("partials/_progress.html", headway=measure_progress(mission.state)),
        "now": render_template("partials/_now.html", caption=write_caption(mission), trouble=_has_open_alarm(mission)),
        "ribbon": render_template("partials/_ribbon.html", **here, rolled_back=count_rollbacks),
        "item": render_template("partials/_item.html", **here, rule=find_focus_rule(mission, scene)),
        "approval": render_template("partials/_approval.html", **here),
        "change": render_template("partials/_change.html", change=mission.change, past=_is_past_change(mission)),
        "tries": render_template("partials/_tries.html", mission=mission),
        "feed": render_template("partials/_feed.html", **here),
    }
    for role in ROLES:
        drawn[f"lane-{role}"] = _render_lane(mission, scene, mission.lanes[role])
    return drawn | render_clock_piece(mission, scene) | render_engine_pieces(mission, scene)


def render_clock_piece(mission: Mission, scene: Scene) -> dict[str, str]:
    state = mission.state
    ticking = scene.mode == "live" and state.status == "running" and state.idle_since is None
    since = state.started_at if ticking else None
    context = {"headway": measure_progress(state), "since": since, "at": state.at, "over": bool(state.ended)}
    return {"clock": render_template("partials/_clock.html", **context)}


def _render_lane(mission: Mission, scene: Scene, lane: Lane) -> str:
    engine = scene.lineup.engines[scene.lineup.seats[lane.role].engine]
    number = mission.tries[-1].number if mission.tries else 0
    context = {
        "step": STEPS[lane.role],
        "staged": mission.stage == lane.role,
        "past": lane.is_past(mission.focus, number),
    }
    return render_template("partials/_lane.html", lane=lane, engine=engine, **context)


def _is_past_change(mission: Mission) -> bool:
    return mission.change is not None and (not mission.tries or mission.change is not mission.tries[-1])


def _has_open_alarm(mission: Mission) -> bool:
    """Return True if the last attempt raised an alarm and its rollback is not done."""
    attempt = mission.tries[-1] if mission.tries else None
    return attempt is not None and not mission.state.ended and bool(attempt.alarm) and not attempt.undone


def _render_status(mission: Mission, scene: Scene) -> str:
    asked = mission.state.request
    simulated_host = asked is not None and is_fixture(asked.host)
    return render_template("partials/_status.html", mission=mission, scene=scene, simulated_host=simulated_host)


def render_engine_pieces(mission: Mission, scene: Scene) -> dict[str, str]:
    outages = scene.outages(mission.state.at)
    return {
        f"hold-{engine.name}": render_template(
            "partials/_engine_label.html", hold=build_engine_label(mission, engine, scene.lineup, outages)
        )
        for engine in scene.lineup.engines.values()
    }


def find_focus_rule(mission: Mission, scene: Scene) -> object:
    return scene.skill.rules.get(mission.focus) if mission.focus else None
