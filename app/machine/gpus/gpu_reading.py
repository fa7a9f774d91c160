"""One reading of one GPU, where None means not reported and never 0, and the sources of readings."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from app.events.event_field_types import GpuProcess

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


def divide_value(value: float | None, divisor: float = 1) -> float | None:
    return None if value is None else value / divisor


def to_gib(size: float) -> float:
    return round(size / GIB, 2)


class CombinedGpus:
    """Several GPU sources as one. A GPU reported by two sources is taken from the first."""

    def __init__(self, sources: Sequence[GpuSource], *, none_meant: bool = False) -> None:
        self._sources, self._none_meant = sources, none_meant
        self._first: dict[str | tuple[str, int], int] = {}
        """Key and UUID of each GPU to the first source that ever reported it."""

    @property
    def reason(self) -> str:
        if not self._sources and self._none_meant:
            return "no engine of this line-up uses a GPU"
        if not self._sources:
            return "the line-up's GPUs are in other machines: name their DCGM exporters in its dcgm_urls"
        return "; ".join(source.reason for source in self._sources if source.reason)

    async def read(self) -> list[GpuReading]:
        told = await asyncio.gather(*(source.read() for source in self._sources))
        found = [(place, reading) for place, readings in enumerate(told) for reading in readings]
        for place, reading in found:
            for name in _list_host_index_and_uuid(reading):
                self._first[name] = min(place, self._first.get(name, place))
        return [
            one for place, one in found if all(self._first[name] == place for name in _list_host_index_and_uuid(one))
        ]

    async def close(self) -> None:
        for source in self._sources:
            await source.close()


def _list_host_index_and_uuid(reading: GpuReading) -> list[str | tuple[str, int]]:
    return [reading.key, reading.uuid] if reading.uuid else [reading.key]
