"""Several GPU sources as one. A GPU reported by two sources is taken from the first."""

import asyncio
from collections.abc import Sequence

from app.machine.gpus.gpu_reading import GpuReading, GpuSource


class CombinedGpus:
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
        for place, readings in enumerate(told):
            for reading in readings:
                for name in _list_identities(reading):
                    self._first[name] = min(place, self._first.get(name, place))
        return [
            reading
            for place, readings in enumerate(told)
            for reading in readings
            if all(self._first[name] == place for name in _list_identities(reading))
        ]

    async def close(self) -> None:
        for source in self._sources:
            await source.close()


def _list_identities(reading: GpuReading) -> list[str | tuple[str, int]]:
    return [reading.key, reading.uuid] if reading.uuid else [reading.key]
