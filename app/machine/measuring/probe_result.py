"""The result of one probe of one replica, and how it is stored."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import msgspec
from sqlmodel import Session, col, select

from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_load_steps import STEPS, STREAM_TOKENS
from app.store.models import ProbeRow

_TEXTS = tuple[str, ...]
_AS_JSON = {"gpus": _TEXTS, "conditions": dict[str, str], "figures": tuple[Measured, ...], "notes": _TEXTS}
"""Fields that a row holds as JSON."""
GAIN = 1.1
"""Minimum gain of twice the streams; below it, more streams only wait longer."""


@dataclass(frozen=True)
class ProbeResult:
    id: str
    at: float
    lineup: str
    engine: str
    replica: int
    """Index among the engine's replicas, from 0."""
    simulated: bool
    gpus: tuple[str, ...]
    """Names of the cards, as reported."""
    conditions: dict[str, str]
    """Versions, model, context: must be equal for two probes to be comparable."""
    figures: tuple[Measured, ...]
    problem: str = ""
    """Why it ended early; empty if it did not."""
    notes: tuple[str, ...] = field(default=())
    """Notes on the reliability of the figures."""

    def find_figure(self, name: str) -> Measured | None:
        return next((one for one in self.figures if one.name == name), None)

    def find_value(self, name: str) -> float | None:
        found = self.find_figure(name)
        return found.value if found else None


def find_saturation(result: ProbeResult) -> int | None:
    """Return the saturation point, or None if the largest step measured still gained."""
    steps = [step for step in STEPS if step.tokens == STREAM_TOKENS]
    named = [(step.streams, result.find_value(f"{step.key}.all_tok_s")) for step in steps]
    measured = [(streams, together) for streams, together in named if together is not None]
    for (fewer, slower), (_, faster) in pairwise(measured):
        if faster < GAIN * slower:
            return fewer
    return None


def store_probe(session: Session, result: ProbeResult) -> None:
    encoded = {name: msgspec.json.encode(getattr(result, name)).decode() for name in _AS_JSON}
    session.add(ProbeRow(**{**vars(result), **encoded}))


def read_newest_probes(session: Session, lineup: str, engine: str = "", *, limit: int = 20) -> list[ProbeResult]:
    """Return probe results, newest first."""
    query = select(ProbeRow).order_by(col(ProbeRow.at).desc()).limit(limit)
    if lineup:
        query = query.where(col(ProbeRow.lineup) == lineup)
    if engine:
        query = query.where(col(ProbeRow.engine) == engine)
    return [_from_row(row) for row in session.exec(query)]


def _from_row(row: ProbeRow) -> ProbeResult:
    decoded = {name: msgspec.json.decode(getattr(row, name), type=kind) for name, kind in _AS_JSON.items()}
    return ProbeResult(**{**row.model_dump(), **decoded})


def find_newest_and_earlier(
    results_newest_first: Sequence[ProbeResult], engine: str, replica: int
) -> tuple[ProbeResult | None, ProbeResult | None]:
    """Return a replica's newest result, and the newest earlier one that is complete."""
    mine = [one for one in results_newest_first if (one.engine, one.replica) == (engine, replica)]
    earlier = (one for one in mine[1:] if not one.problem and one.simulated == mine[0].simulated)
    return (mine[0] if mine else None), next(earlier, None)
