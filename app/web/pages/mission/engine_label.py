"""The label of an engine: the role that it serves now, and its use over the last two minutes."""

from app.lineups.model import Engine, Lineup
from app.web.pages.mission.engine_holds import HOLD_SECONDS, draw_hold_bars
from app.web.pages.mission.mission import Mission


def build_engine_label(mission: Mission, engine: Engine, lineup: Lineup) -> dict[str, object]:
    holds = mission.holds.by_engine.get(engine.name, [])
    now = mission.state.at
    last = holds[-1] if holds else None
    live = last if last and last.until is None else None
    seated = [role for role, seat in lineup.seats.items() if seat.engine == engine.name]
    return {
        "engine": engine,
        "roles": seated,
        "serving": live.role if live else None,
        "replica": live.replica + 1 if live and len(engine.replicas) > 1 else None,
        "reading": bool(live and live.first is None),
        "rows": [
            (role, draw_hold_bars([one for one in holds if one.role == role], now, HOLD_SECONDS)) for role in seated
        ],
        "minutes": int(HOLD_SECONDS / 60),
        "turn": mission.newest.get(engine.name),
        "pace": mission.state.request.pace if mission.state.request else None,
        "simulated": bool(mission.state.request and mission.state.request.simulated),
    }
