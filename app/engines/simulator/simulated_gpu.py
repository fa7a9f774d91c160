"""Figures of a simulated GPU, which follow the engine's load with inertia."""

import math
from dataclasses import dataclass

_WATTS = {"NVIDIA L4": (28.0, 70.0)}
_ANY_WATTS = (60.0, 300.0)
"""Watts idle with a model loaded, and while decoding."""
_LIMIT_WATTS = {"NVIDIA L4": 72.0}
"""Published power limits; other GPUs have none here."""
_COOL, _WARM = 44.0, 71.0
_BUSY_SECONDS, _HEAT_SECONDS = 1.0, 25.0


class Inertia:
    """A level that approaches its target exponentially."""

    def __init__(self, seconds: float, now: float) -> None:
        self._seconds = seconds
        self._level = self._target = self._total = 0.0
        self._at = now

    def set_target(self, target: float, now: float) -> None:
        self._total = self.compute_total(now)
        self._level, self._target, self._at = self.compute_level(now), target, now

    def compute_level(self, now: float) -> float:
        return self._target + (self._level - self._target) * math.exp(-(now - self._at) / self._seconds)

    def compute_total(self, now: float) -> float:
        """Return the integral of the level over time."""
        gone = now - self._at
        settling = self._seconds * (1 - math.exp(-gone / self._seconds))
        return self._total + self._target * gone + (self._level - self._target) * settling


@dataclass(frozen=True)
class SimulatedGpuReading:
    utilization: int
    power_w: float
    temperature_c: int
    power_limit_w: float | None
    energy_j: float


class SimulatedGpu:
    def __init__(self, kind: str, now: float) -> None:
        self._idle, self._full = _WATTS.get(kind, _ANY_WATTS)
        self._limit, self._began = _LIMIT_WATTS.get(kind), now
        self._busy = Inertia(_BUSY_SECONDS, now)
        self._heat = Inertia(_HEAT_SECONDS, now)

    def set_load(self, share: float, now: float) -> None:
        """Set the share of time that the GPU is busy from now on."""
        self._busy.set_target(share, now)
        self._heat.set_target(share, now)

    def read(self, now: float) -> SimulatedGpuReading:
        busy = self._busy.compute_level(now)
        return SimulatedGpuReading(
            utilization=round(100 * busy),
            power_w=round(self._idle + (self._full - self._idle) * busy, 1),
            temperature_c=round(_COOL + (_WARM - _COOL) * self._heat.compute_level(now)),
            power_limit_w=self._limit,
            energy_j=round(
                self._idle * (now - self._began) + (self._full - self._idle) * self._busy.compute_total(now), 1
            ),
        )
