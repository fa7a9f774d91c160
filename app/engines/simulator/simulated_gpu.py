"""Figures of a simulated GPU, which follow the engine's load with inertia."""

import math

from msgspec import Struct

from app.lineups.model import Gpu

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
        self._total = self.compute_integral_over_time(now)
        self._level, self._target, self._at = self.compute_level(now), target, now

    def compute_level(self, now: float) -> float:
        return self._target + (self._level - self._target) * math.exp(-(now - self._at) / self._seconds)

    def compute_integral_over_time(self, now: float) -> float:
        """Return the integral of the level over time."""
        gone = now - self._at
        settling = self._seconds * (1 - math.exp(-gone / self._seconds))
        return self._total + self._target * gone + (self._level - self._target) * settling


class SimulatedGpuStatus(Struct, frozen=True):
    """One GPU as the simulator reports it."""

    index: int
    memory_used_gib: float
    memory_total_gib: float
    utilization: float
    power_w: float
    temperature_c: float
    power_limit_w: float | None = None
    energy_j: float | None = None
    kind: str = ""


class SimulatedGpu:
    def __init__(self, gpu: Gpu, now: float) -> None:
        self._gpu = gpu
        self._idle, self._full = _WATTS.get(gpu.kind, _ANY_WATTS)
        self._began = now
        self._busy = Inertia(_BUSY_SECONDS, now)
        self._heat = Inertia(_HEAT_SECONDS, now)

    def set_load(self, share: float, now: float) -> None:
        """Set the share of time that the GPU is busy from now on."""
        self._busy.set_target(share, now)
        self._heat.set_target(share, now)

    def read_status(self, used_gib: float, now: float) -> SimulatedGpuStatus:
        busy, span = self._busy.compute_level(now), self._full - self._idle
        return SimulatedGpuStatus(
            index=self._gpu.index,
            kind=self._gpu.kind,
            memory_used_gib=round(used_gib, 2),
            memory_total_gib=self._gpu.memory_gib,
            utilization=round(100 * busy),
            power_w=round(self._idle + span * busy, 1),
            temperature_c=round(_COOL + (_WARM - _COOL) * self._heat.compute_level(now)),
            power_limit_w=_LIMIT_WATTS.get(self._gpu.kind),
            energy_j=round(self._idle * (now - self._began) + span * self._busy.compute_integral_over_time(now), 1),
        )
