"""A figure from a probe, with its unit, provenance and source."""

from dataclasses import dataclass

from app.events.words import Provenance


@dataclass(frozen=True)
class Measured:
    name: str
    """The same in every probe: `1x512.tok_s`, `loaded_gib.0`."""
    value: float | None
    """None if it could not be measured, never 0."""
    unit: str
    provenance: Provenance
    source: str


def create_unknown(name: str, unit: str, why: str) -> Measured:
    return Measured(name, None, unit, "unsupported", why)
