"""Memory estimates of a line-up's real engines, where they can be computed."""

import logging

from app.engines.fit.plan import fit_engine
from app.engines.fit.reckoned import Fit
from app.errors import BadInput
from app.lineups.model import Lineup

log = logging.getLogger(__name__)


def estimate_engines(lineup: Lineup) -> dict[str, Fit]:
    """Estimate each engine's memory. Blocking: reads config.json of models that are not built in."""
    found = {}
    for engine in lineup.engines.values():
        if engine.simulation is None and not engine.is_on_cpu:
            try:
                found[engine.name] = fit_engine(lineup, engine)
            except BadInput as exc:
                log.warning("the memory of %s is not taken apart: %s", engine.name, exc)
    return found
