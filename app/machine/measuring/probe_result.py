"""The result of one probe of one replica."""

from dataclasses import dataclass, field
from itertools import pairwise

from app.machine.measuring.probe_figures import Measured
from app.machine.measuring.probe_steps import STEPS, STREAM_TOKENS


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


GAIN = 1.1
"""Minimum gain of twice the streams; below it, more streams only wait longer."""


def find_saturation(probed: ProbeResult) -> int | None:
    """Return the saturation point, or None if the largest step measured still gained."""
    named = [
        (step.streams, probed.find_value(f"{step.key}.all_tok_s")) for step in STEPS if step.tokens == STREAM_TOKENS
    ]
    measured = [(streams, together) for streams, together in named if together is not None]
    for (fewer, slower), (_, faster) in pairwise(measured):
        if faster < GAIN * slower:
            return fewer
    return None
