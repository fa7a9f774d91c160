"""Energy that one GPU drew between two times, from its samples. Pure."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import NamedTuple

from app.events.kinds import GpuSampled
from app.events.record import Recorded

GAP = 15.0
"""Seconds. Samples further apart say nothing about the time between them."""
_TRUSTED = (0.5, 2.0)
"""Accepted ratio of counter to integral; otherwise the counter was reset or samples are missing."""


class EnergyDrawn(NamedTuple):
    joules: float
    seconds: float
    """Seconds of the requested time for which power is known."""

    def __add__(self, other: object) -> "EnergyDrawn":
        assert isinstance(other, EnergyDrawn)
        return EnergyDrawn(self.joules + other.joules, self.seconds + other.seconds)


NOTHING = EnergyDrawn(0.0, 0.0)


@dataclass
class PowerCurve:
    """Power over time. The energy counter, where read, sets the amount; samples only shape it."""

    _at: list[float] = field(default_factory=list)
    _watts: list[float] = field(default_factory=list)
    _sums: list[EnergyDrawn] = field(default_factory=list)
    """Integral from the first sample up to each."""
    _counted: list[tuple[float, float]] = field(default_factory=list)
    """Times of counter readings, and their joules."""

    def add(self, at: float, watts: float | None, counter_reading: tuple[float, float] | None = None) -> None:
        """Add a sample, in order of time. `counter_reading`: time and value of a counter reading."""
        if counter_reading and (not self._counted or counter_reading[1] != self._counted[-1][1]):
            self._counted.append(counter_reading)
        if watts is None or (self._at and at <= self._at[-1]):
            return
        self._sums.append(self._sums[-1] + self._compute_step_energy(at, watts) if self._at else NOTHING)
        self._at.append(at)
        self._watts.append(watts)

    def compute_joules_drawn_and_seconds_covered(self, start: float, end: float) -> EnergyDrawn:
        total = NOTHING
        for low, high, factor in self._split_at_counter_readings_with_correction_factor(start, end):
            joules, seconds = self._integrate_samples(low, high)
            total += EnergyDrawn(joules * factor, seconds)
        return total

    def _compute_step_energy(self, at: float, watts: float) -> EnergyDrawn:
        gone = at - self._at[-1]
        return EnergyDrawn((self._watts[-1] + watts) / 2 * gone, gone) if gone <= GAP else NOTHING

    def _split_at_counter_readings_with_correction_factor(
        self, start: float, end: float
    ) -> Iterable[tuple[float, float, float]]:
        """Split the time at counter readings, each interval with its correction factor."""
        low = start
        for index in range(max(bisect_right(self._counted, (start, inf)) - 1, 0), len(self._counted) - 1):
            (at, before), (then, after) = self._counted[index : index + 2]
            if at >= end:
                break
            if low < at:
                yield low, at, 1.0
            low, high = max(low, at), min(end, then)
            if low < high:
                yield low, high, self._compute_correction_factor(at, then, after - before)
                low = high
        if low < end:
            yield low, end, 1.0

    def _compute_correction_factor(self, start: float, end: float, counted: float) -> float:
        joules, seconds = self._integrate_samples(start, end)
        if joules <= 0 or seconds < 0.9 * (end - start):
            return 1.0
        factor = counted / joules
        return factor if _TRUSTED[0] <= factor <= _TRUSTED[1] else 1.0

    def _integrate_samples(self, start: float, end: float) -> EnergyDrawn:
        low, high = self._integrate_until(start), self._integrate_until(end)
        return EnergyDrawn(high.joules - low.joules, high.seconds - low.seconds)

    def _integrate_until(self, at: float) -> EnergyDrawn:
        index = bisect_right(self._at, at) - 1
        if index < 0:
            return NOTHING
        if index + 1 == len(self._at) or self._at[index + 1] - self._at[index] > GAP:
            return self._sums[index]
        gone = at - self._at[index]
        slope = (self._watts[index + 1] - self._watts[index]) / (self._at[index + 1] - self._at[index])
        return self._sums[index] + EnergyDrawn((self._watts[index] + slope * gone / 2) * gone, gone)


def build_power_curves(samples: Iterable[Recorded]) -> Mapping[tuple[str, int], PowerCurve]:
    lines: dict[tuple[str, int], PowerCurve] = defaultdict(PowerCurve)
    for one in samples:
        if isinstance(event := one.event, GpuSampled):
            read = None if event.energy_j is None else (one.at - event.ages.get("energy_j", 0.0), event.energy_j)
            lines[event.host, event.gpu].add(one.at, event.power_w, read)
    return lines
