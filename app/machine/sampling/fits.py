"""What each real engine of a line-up is reckoned to take of its GPUs, where that can be reckoned."""

import logging

from app.engines.fit.plan import fit_engine
from app.engines.fit.reckoned import Fit
from app.errors import BadInput
from app.lineups.model import Lineup

log = logging.getLogger(__name__)


def fits(lineup: Lineup) -> dict[str, Fit]:
    """Reads config.json of models that are not built in: blocking."""
    found = {}
    for engine in lineup.engines.values():
        if engine.simulation is None and not engine.on_cpu:
            try:
                found[engine.name] = fit_engine(lineup, engine)
            except BadInput as exc:
                log.warning("the memory of %s is not taken apart: %s", engine.name, exc)
    return found
