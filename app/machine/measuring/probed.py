"""The result of one probe of one replica."""

from dataclasses import dataclass, field

from app.machine.measuring.figure import Measured


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
