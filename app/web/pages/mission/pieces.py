"""The parts of the page that update alone: each a template, rendered by the page and by its stream alike."""

from dataclasses import dataclass

from app.lineups.model import Engine, Lineup
from app.loop.state import Item
from app.skills.skill import Skill
from app.targets.registry import is_fixture
from app.web.pages.mission.lane import ROLES
from app.web.pages.mission.mission import HOLD_SECONDS, Mission
from app.web.pages.mission.ribbon import bars
from app.web.pages.templating import rendered

MADE = ("scanner", "vetoed", "alarm")
"""Why an attempt failed whose change stood on the host."""


@dataclass(frozen=True)
class Scene:
    """What does not change while a run is watched."""

    lineup: Lineup
    skill: Skill
    mode: str
    """live, replay or ended."""


def pieces(mission: Mission, scene: Scene) -> dict[str, str]:
    """Element id to its inner HTML."""
    drawn = {
        "status": _status(mission, scene),
        "ribbon": rendered("partials/_ribbon.html", mission=mission, scene=scene, rolled_back=rolled_back),
        "item": rendered("partials/_item.html", mission=mission, scene=scene, rule=focus(mission, scene)),
        "approval": rendered("partials/_approval.html", mission=mission, scene=scene),
        "tries": rendered("partials/_tries.html", mission=mission),
        "feed": rendered("partials/_feed.html", mission=mission, scene=scene),
    }
    for role in ROLES:
        seat = scene.lineup.seats[role]
        engine = scene.lineup.engines[seat.engine]
        drawn[f"lane-{role}"] = rendered("partials/_lane.html", lane=mission.lanes[role], engine=engine)
    return drawn | engine_pieces(mission, scene)


def _status(mission: Mission, scene: Scene) -> str:
    asked = mission.state.request
    simulated_host = asked is not None and is_fixture(asked.host)
    context = {"mission": mission, "scene": scene, "counts": counts(mission), "simulated_host": simulated_host}
    return rendered("partials/_status.html", **context)


def engine_pieces(mission: Mission, scene: Scene) -> dict[str, str]:
    return {
        f"hold-{engine.name}": rendered("partials/_hold.html", hold=hold(mission, engine, scene))
        for engine in scene.lineup.engines.values()
    }


def counts(mission: Mission) -> dict[str, int]:
    order = ("passed", "escalated", "skipped", "deferred", "working", "waiting")
    tally = dict.fromkeys(order, 0)
    for item in mission.state.items.values():
        tally[item.status] += 1
    return tally | {"undone": sum(rolled_back(item) for item in mission.state.items.values())}


def rolled_back(item: Item) -> int:
    """Its attempts that were made on the host and taken back."""
    return sum(failure.cause in MADE for failure in item.failures)


def focus(mission: Mission, scene: Scene) -> object:
    return scene.skill.rules.get(mission.focus) if mission.focus else None


def hold(mission: Mission, engine: Engine, scene: Scene) -> dict[str, object]:
    holds = mission.holds.get(engine.name, [])
    now = mission.state.at
    last = holds[-1] if holds else None
    live = last if last and last.until is None else None
    seated = [role for role, seat in scene.lineup.seats.items() if seat.engine == engine.name]
    return {
        "engine": engine,
        "roles": seated,
        "serving": live.role if live else None,
        "replica": live.replica + 1 if live and len(engine.replicas) > 1 else None,
        "reading": bool(live and live.first is None),
        "bars": bars(holds, now, HOLD_SECONDS),
        "span": int(HOLD_SECONDS),
        "turn": mission.newest.get(engine.name),
        "pace": mission.state.request.pace if mission.state.request else None,
        "simulated": bool(mission.state.request and mission.state.request.simulated),
    }
