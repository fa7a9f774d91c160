"""What one probe of one replica found: kept as it stands, compared later."""

from dataclasses import dataclass, field

from app.machine.measuring.figure import Measured


@dataclass(frozen=True)
class Probed:
    id: str
    at: float
    lineup: str
    engine: str
    replica: int
    """Its place among the engine's replicas, from 0."""
    simulated: bool
    gpus: tuple[str, ...]
    """The names of the cards it ran on, as they gave them."""
    conditions: dict[str, str]
    """What has to be the same for two probes to be alike: versions, model, context."""
    figures: tuple[Measured, ...]
    problem: str = ""
    """Why it ended before all was asked; empty where it did not."""
    notes: tuple[str, ...] = field(default=())
    """What a reader should know before believing the figures."""

    def figure(self, name: str) -> Measured | None:
        return next((one for one in self.figures if one.name == name), None)

    def value(self, name: str) -> float | None:
        found = self.figure(name)
        return found.value if found else None
