"""Pieces of the mission page that update on their own; the page and its stream render the same templates."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from app.lineups.model import Engine, Lineup
from app.loop.state import Item
from app.machine.sampling.engine_outages_from_log import EngineOutage
from app.skills.skill import Skill
from app.targets.host_registry import is_fixture
from app.web.pages.mission.attempts import AttemptView
from app.web.pages.mission.candidate_rows import CandidateRow, list_candidate_rows
from app.web.pages.mission.caption import write_caption
from app.web.pages.mission.engine_use_times import HOLD_SECONDS, draw_hold_bars_outside_outages, draw_outage_gaps
from app.web.pages.mission.findings_by_part import list_parts_if_many_items
from app.web.pages.mission.mission import Mission
from app.web.pages.mission.progress import count_rollbacks, measure_progress
from app.web.pages.mission.steps import list_role_steps_with_signs
from app.web.pages.mission.turn_lane import PLACES, Lane, Place
from app.web.pages.templating import render_template_to_text


def build_engine_label_context(
    mission: Mission, engine: Engine, lineup: Lineup, outages: Sequence[EngineOutage] = ()
) -> dict[str, object]:
    holds = mission.holds.by_engine.get(engine.name, [])
    now, last = mission.state.at, holds[-1] if holds else None
    live = last if last and last.until is None else None
    broken = [one for one in outages if one.engine == engine.name]
    seated = [role for role, seat in lineup.seats.items() if seat.engine == engine.name]
    held = {role: [one for one in holds if one.role == role] for role in seated}
    return {
        "engine": engine,
        "roles": seated,
        "serving": live.role if live else None,
        "replica": live.replica + 1 if live and len(engine.replicas) > 1 else None,
        "reading": bool(live and live.first is None),
        "rows": [(role, draw_hold_bars_outside_outages(own, now, HOLD_SECONDS, broken)) for role, own in held.items()],
        "gaps": draw_outage_gaps(broken, now, HOLD_SECONDS),
        "at": now,
        "seconds": int(HOLD_SECONDS),
        "turn": mission.newest.get(engine.name),
        "pace": mission.state.request.pace if mission.state.request else None,
        "simulated": bool(mission.state.request and mission.state.request.simulated),
    }


@dataclass(frozen=True)
class Scene:
    """Context that stays constant while a run is watched."""

    lineup: Lineup
    skill: Skill
    mode: str
    """live, replay or ended."""
    engines: Callable[[], Mapping[str, str]] = dict
    """Renders the engines' figures and their shares over all hosts, to be sent with each update of this run."""
    outages: Callable[[float], Sequence[EngineOutage]] = lambda _: ()
    """Reads when engines were broken in the two minutes before a time."""
    sends_timeline: bool = False
    """Whether what changes on the timeline is sent with each update of this run."""


def render_mission_parts(mission: Mission, scene: Scene) -> dict[str, str]:
    """Return inner HTML by element id."""
    here, rule = {"mission": mission, "scene": scene}, scene.skill.rules.get(mission.focus or "")
    attempt = _get_attempt_or_blank(mission)
    drawn = {
        "status": _render_status(mission, scene),
        "progress": render_template_to_text("partials/_progress.html", headway=measure_progress(mission.state)),
        "now": _render_caption(mission, scene),
        "ribbon": _render_ribbon(mission, scene),
        "item": render_template_to_text(
            "partials/_item.html", **here, rule=rule, steps=list_role_steps_with_signs(mission)
        ),
        "approval": render_template_to_text("partials/_approval.html", **here),
        "tries": render_template_to_text("partials/_tries.html", tries=mission.tries[:-1]),
        "undo": render_template_to_text("partials/_undo.html", attempt=attempt),
        "evidence": render_template_to_text("partials/_evidence.html", **here, rule=rule, attempt=attempt),
        "feed": render_template_to_text("partials/_feed.html", **here),
    }
    for place in PLACES:
        drawn[f"lane-{place}"] = _render_lane(mission, scene, place)
    return drawn | render_clock_part(mission, scene) | render_engine_label_parts(mission, scene)


def render_clock_part(mission: Mission, scene: Scene) -> dict[str, str]:
    state = mission.state
    ticking = scene.mode == "live" and state.status == "running" and state.idle_since is None
    since = state.started_at if ticking else None
    context = {"headway": measure_progress(state), "since": since, "at": state.at, "over": bool(state.ended)}
    return {"clock": render_template_to_text("partials/_clock.html", **context)}


def _get_attempt_or_blank(mission: Mission) -> AttemptView:
    """Return the attempt in view; one without results before the first."""
    return mission.tries[-1] if mission.tries else AttemptView(0)


def _render_lane(mission: Mission, scene: Scene, place: Place) -> str:
    lane, attempt = mission.lanes[place], _get_attempt_or_blank(mission)
    if lane.is_of_other_attempt(mission.focus, attempt.number or lane.attempt):
        lane = Lane(place)
    started, item = mission.state.started, mission.state.items.get(mission.focus or "")
    context = {
        "engine": scene.lineup.engines[scene.lineup.seats[lane.role].engine],
        "attempt": attempt,
        "staged": mission.stage == place,
        "before": started.probes if started else (),
        "candidates": _list_candidates(item) if item and place == "architect" else [],
    }
    return render_template_to_text(f"partials/_turn_{place}.html", lane=lane, **context)


def _list_candidates(item: Item) -> list[CandidateRow]:
    plan = item.attempt.plan if item.attempt else None
    return list_candidate_rows(item.candidates, item.tried, plan.candidate if plan else 0)


def _render_caption(mission: Mission, scene: Scene) -> str:
    turn = None if mission.state.ended else mission.state.turn
    engine = scene.lineup.engines[turn.engine].title if turn and turn.engine in scene.lineup.engines else ""
    reboot = mission.state.reboot
    context = {
        "caption": write_caption(mission),
        "trouble": not mission.state.ended and bool(_get_attempt_or_blank(mission).alarm),
        "waits": mission.state.subject_awaiting_approval is not None,
        "away_since": reboot.announced_at if scene.mode == "live" and reboot.is_awaited else None,
        "turn": turn,
        "engine": engine,
    }
    return render_template_to_text("partials/_now.html", **context)


def _render_ribbon(mission: Mission, scene: Scene) -> str:
    parts = list_parts_if_many_items(mission.state.items.values(), scene.skill.rules)
    context = {"mission": mission, "scene": scene, "parts": parts, "rolled_back": count_rollbacks}
    return render_template_to_text("partials/_ribbon.html", **context)


def _render_status(mission: Mission, scene: Scene) -> str:
    asked = mission.state.request
    simulated_host = asked is not None and is_fixture(asked.host)
    return render_template_to_text("partials/_status.html", mission=mission, scene=scene, simulated_host=simulated_host)


def render_engine_label_parts(mission: Mission, scene: Scene) -> dict[str, str]:
    outages = scene.outages(mission.state.at)
    drawn = {}
    for engine in scene.lineup.engines.values():
        hold = build_engine_label_context(mission, engine, scene.lineup, outages)
        drawn[f"hold-{engine.name}"] = render_template_to_text("partials/_engine_label.html", hold=hold)
    return drawn
