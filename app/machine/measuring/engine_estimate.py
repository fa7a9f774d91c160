"""The memory estimate of an engine, or the reason why there is none."""

from dataclasses import dataclass

from app.engines.fit.estimate import Fit
from app.engines.fit.fit_plan import fit_engine
from app.errors import BadInput
from app.lineups.model import Engine, Lineup


@dataclass(frozen=True)
class EnginePlan:
    fit: Fit | None
    why: str = ""
    """Why there is no estimate; empty if there is one."""


def plan_engine(lineup: Lineup, engine: Engine) -> EnginePlan:
    try:
        return EnginePlan(fit_engine(lineup, engine))
    except BadInput as exc:
        return EnginePlan(None, str(exc))
