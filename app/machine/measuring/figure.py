"""A number that a probe gave, with what it takes to believe it."""

from dataclasses import dataclass

from app.events.words import Provenance


@dataclass(frozen=True)
class Measured:
    name: str
    """What was measured, the same in every probe: `1x512.tok_s`, `loaded_gib.0`."""
    value: float | None
    """None is what could not be measured, never 0."""
    unit: str
    provenance: Provenance
    source: str


def unknown(name: str, unit: str, why: str) -> Measured:
    return Measured(name, None, unit, "unsupported", why)
