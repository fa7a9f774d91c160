"""Growth of an engine's counters between two samples, per replica; a restarted replica counts from 0."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.engines.metrics import EngineSample, growth, rate

LONGEST = 10.0
"""Seconds after which an earlier sample is not comparable."""


@dataclass(frozen=True)
class Look:
    at: float
    sample: EngineSample


@dataclass(frozen=True)
class Since:
    before: Sequence[Look | None]
    now: Sequence[Look | None]

    def rate(self, name: str) -> float | None:
        """Return the rate per second, summed over all replicas."""
        rates = [rate(_count(old, name), _count(new, name), new.at - old.at) for old, new in self._pairs()]
        known = [one for one in rates if one is not None]
        return round(sum(known), 2) if known else None

    def growth(self, name: str) -> float | None:
        grown = [growth(_count(old, name), _count(new, name)) for old, new in self._pairs()]
        known = [one for one in grown if one is not None]
        return sum(known) if known else None

    def _pairs(self) -> Iterator[tuple[Look, Look]]:
        for old, new in zip(self.before, self.now, strict=True):
            if old and new and new.at - old.at <= LONGEST:
                yield old, new


def _count(look: Look, name: str) -> float | None:
    value: float | None = getattr(look.sample, name)
    return value
