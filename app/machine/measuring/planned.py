"""The memory estimate of an engine, or the reason why there is none."""

from dataclasses import dataclass

from app.engines.fit.plan import fit_engine
from app.engines.fit.reckoned import Fit
from app.errors import BadInput
from app.lineups.model import Engine, Lineup


@dataclass(frozen=True)
class Planned:
    fit: Fit | None
    why: str = ""
    """Why there is no estimate; empty if there is one."""


def planned(lineup: Lineup, engine: Engine) -> Planned:
    try:
        return Planned(fit_engine(lineup, engine))
    except BadInput as exc:
        return Planned(None, str(exc))
