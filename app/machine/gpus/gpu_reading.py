"""One reading of one GPU. None means not reported, never 0."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from app.events.vocabulary import GpuProcess

GIB = 1024**3


@dataclass(frozen=True)
class GpuReading:
    gpu: int
    """Its number on its own machine."""
    name: str
    used_gib: float | None = None
    total_gib: float | None = None
    utilization: float | None = None
    """Percent."""
    power_w: float | None = None
    temperature_c: float | None = None
    simulated: bool = False
    host: str = ""
    """Empty for this machine."""
    reserved_gib: float | None = None
    unified: bool = False
    """The GPU has no memory of its own: used and total are the host's."""
    mig: bool = False
    power_limit_w: float | None = None
    energy_j: float | None = None
    sm_mhz: float | None = None
    memory_mhz: float | None = None
    throttled: tuple[str, ...] = ()
    ecc_uncorrected: int | None = None
    pcie_rx_mb_s: float | None = None
    pcie_tx_mb_s: float | None = None
    processes: tuple[GpuProcess, ...] = ()
    ages: Mapping[str, float] = field(default_factory=dict)
    """Seconds since a sensor was read, by field, if it is cached."""
    uuid: str = ""
    source: str = ""
    """Where it was read; empty for NVML."""

    @property
    def key(self) -> tuple[str, int]:
        return self.host, self.gpu


class GpuSource(Protocol):
    @property
    def reason(self) -> str:
        """Why the last reading is incomplete; empty if it is not."""

    async def read(self) -> list[GpuReading]:
        """Return readings that are new since the last call."""

    async def close(self) -> None: ...


def scale_value(value: float | None, scale: float = 1) -> float | None:
    return None if value is None else value / scale


def to_gib(size: float) -> float:
    return round(size / GIB, 2)
