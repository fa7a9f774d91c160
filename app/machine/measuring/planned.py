"""What arithmetic says of an engine, or why it cannot say anything."""

from dataclasses import dataclass

from app.engines.fit.plan import fit_engine
from app.engines.fit.reckoned import Fit
from app.errors import BadInput
from app.lineups.model import Engine, Lineup


@dataclass(frozen=True)
class Planned:
    fit: Fit | None
    why: str = ""
    """Why it cannot be reckoned; empty where it can."""


def planned(lineup: Lineup, engine: Engine) -> Planned:
    try:
        return Planned(fit_engine(lineup, engine))
    except BadInput as exc:
        return Planned(None, str(exc))
