"""The GPUs of simulated engines, as reported by the simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import httpx
import msgspec

from app.lineups.model import Gpu
from app.machine.gpus.gpu_reading import GpuReading

PATIENCE = 1.0


class _Card(msgspec.Struct):
    index: int
    memory_used_gib: float
    memory_total_gib: float
    utilization: float
    power_w: float
    temperature_c: float
    power_limit_w: float | None = None
    energy_j: float | None = None


class _Cards(msgspec.Struct):
    gpus: list[_Card]


class SimulatedGpus:
    def __init__(self, http: httpx.AsyncClient, gpus: Sequence[Gpu], bases: Mapping[str, Sequence[str]]) -> None:
        """`bases`: simulated engine to the base URLs of its replicas."""
        self._http, self._gpus, self._bases = http, gpus, bases
        self.reason = ""

    async def read(self) -> list[GpuReading]:
        known: dict[int, GpuReading] = {}
        silent = []
        for engine, bases in self._bases.items():
            try:
                known |= {card.index: _to_reading(card) for base in bases for card in await self._fetch_cards(base)}
            except (httpx.HTTPError, msgspec.DecodeError):
                silent.append(engine)
        self.reason = f"the simulator of {', '.join(silent)} does not answer" if silent else ""
        return [_set_name(gpu, known.get(gpu.index)) for gpu in self._gpus]

    async def close(self) -> None:
        """Do nothing: the HTTP client belongs to the caller."""

    async def _fetch_cards(self, base: str) -> list[_Card]:
        answer = await self._http.get(f"{base.removesuffix('/v1')}/simulator/gpus", timeout=PATIENCE)
        return msgspec.json.decode(answer.raise_for_status().content, type=_Cards).gpus


def _to_reading(card: _Card) -> GpuReading:
    return GpuReading(
        gpu=card.index,
        name="",
        used_gib=card.memory_used_gib,
        total_gib=card.memory_total_gib,
        utilization=card.utilization,
        power_w=card.power_w,
        temperature_c=card.temperature_c,
        power_limit_w=card.power_limit_w,
        energy_j=card.energy_j,
    )


def _set_name(gpu: Gpu, reading: GpuReading | None) -> GpuReading:
    """Return the reading under the line-up's name; without a reading, an empty one for that GPU."""
    name = f"{gpu.kind} (simulated)"
    if reading is None:
        return GpuReading(gpu=gpu.index, name=name, total_gib=gpu.memory_gib, simulated=True)
    return replace(reading, name=name, simulated=True)
