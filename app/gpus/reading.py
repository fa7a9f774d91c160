"""One look at one GPU. None is what it does not tell, never 0."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class GpuReading:
    gpu: int
    name: str
    used_gib: float | None = None
    total_gib: float | None = None
    utilization: float | None = None
    """Percent."""
    power_w: float | None = None
    temperature_c: float | None = None
    simulated: bool = False


class GpuSource(Protocol):
    @property
    def reason(self) -> str:
        """Why the last reading lacks what it lacks; empty when nothing is amiss."""

    async def read(self) -> list[GpuReading]: ...
    async def close(self) -> None: ...
