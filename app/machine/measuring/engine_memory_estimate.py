"""The memory estimate of an engine, or the reason why there is none."""

import logging
from dataclasses import dataclass

from app.engines.fit.estimate_result import Fit
from app.engines.fit.lineup_estimate import estimate_engine_beside_neighbors
from app.errors import BadInput
from app.lineups.model import Engine, Lineup

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class EnginePlan:
    fit: Fit | None
    why: str = ""
    """Why there is no estimate; empty if there is one."""

    @property
    def says(self) -> str:
        """The verdict in a sentence, or why there is none."""
        return self.fit.says if self.fit else self.why

    @property
    def fits(self) -> bool | None:
        return self.fit.fits if self.fit else None


def plan_engine(lineup: Lineup, engine: Engine) -> EnginePlan:
    try:
        return EnginePlan(estimate_engine_beside_neighbors(lineup, engine))
    except BadInput as exc:
        return EnginePlan(None, str(exc))


def estimate_real_gpu_engines(lineup: Lineup) -> dict[str, Fit]:
    """Estimate the memory of all real engines on GPUs. Blocking: reads config.json of models that are not built in."""
    found = {}
    for engine in lineup.engines.values():
        if engine.simulation is None and engine.gpus:
            plan = plan_engine(lineup, engine)
            if plan.fit:
                found[engine.name] = plan.fit
            else:
                log.warning("the memory of %s is not taken apart: %s", engine.name, plan.why)
    return found
