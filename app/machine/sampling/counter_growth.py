"""Growth of an engine's counters between two samples, per replica; a restarted replica counts from 0."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.engines.engine_metrics import EngineSample, compute_growth, compute_rate

LONGEST = 10.0
"""Seconds after which an earlier sample is not comparable."""


@dataclass(frozen=True)
class TimedSample:
    at: float
    sample: EngineSample


@dataclass(frozen=True)
class CounterGrowth:
    before: Sequence[TimedSample | None]
    now: Sequence[TimedSample | None]

    def compute_rate(self, name: str) -> float | None:
        """Return the rate per second, summed over all replicas."""
        rates = [
            compute_rate(_get_count(old, name), _get_count(new, name), new.at - old.at)
            for old, new in self._list_pairs()
        ]
        known = [one for one in rates if one is not None]
        return round(sum(known), 2) if known else None

    def compute_growth(self, name: str) -> float | None:
        grown = [compute_growth(_get_count(old, name), _get_count(new, name)) for old, new in self._list_pairs()]
        known = [one for one in grown if one is not None]
        return sum(known) if known else None

    def _list_pairs(self) -> Iterator[tuple[TimedSample, TimedSample]]:
        for old, new in zip(self.before, self.now, strict=True):
            if old and new and new.at - old.at <= LONGEST:
                yield old, new


def _get_count(look: TimedSample, name: str) -> float | None:
    value: float | None = getattr(look.sample, name)
    return value
