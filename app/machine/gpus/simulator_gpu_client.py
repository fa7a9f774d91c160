"""The GPUs of simulated engines, as reported by the simulator."""

from collections.abc import Mapping, Sequence

import httpx
import msgspec

from app.engines.simulator.simulated_gpu import SimulatedGpuStatus
from app.lineups.model import Gpu
from app.machine.gpus.gpu_reading import GpuReading

PATIENCE = 1.0


class _Statuses(msgspec.Struct):
    gpus: list[SimulatedGpuStatus]


class SimulatedGpus:
    def __init__(self, http: httpx.AsyncClient, gpus: Sequence[Gpu], bases: Mapping[str, Sequence[str]]) -> None:
        """`bases`: simulated engine to the base URLs of its replicas."""
        self._http, self._gpus, self._bases = http, gpus, bases
        self.reason = ""

    async def read(self) -> list[GpuReading]:
        known: dict[int, SimulatedGpuStatus] = {}
        silent = []
        for engine, bases in self._bases.items():
            try:
                known |= {one.index: one for base in bases for one in await self._fetch_statuses_or_raise(base)}
            except (httpx.HTTPError, msgspec.DecodeError):
                silent.append(engine)
        self.reason = f"The simulator of {', '.join(silent)} does not answer" if silent else ""
        return [_to_reading(gpu, known.get(gpu.index)) for gpu in self._gpus]

    async def close(self) -> None:
        """Do nothing: the HTTP client belongs to the caller."""

    async def _fetch_statuses_or_raise(self, base: str) -> list[SimulatedGpuStatus]:
        answer = await self._http.get(f"{base.removesuffix('/v1')}/simulator/gpus", timeout=PATIENCE)
        return msgspec.json.decode(answer.raise_for_status().content, type=_Statuses).gpus


def _to_reading(lineup_gpu: Gpu, status: SimulatedGpuStatus | None) -> GpuReading:
    """Return the status under the line-up's name; without one, an empty reading of that GPU."""
    name = f"{lineup_gpu.kind} (simulated)"
    if status is None:
        return GpuReading(gpu=lineup_gpu.index, name=name, total_gib=lineup_gpu.memory_gib, simulated=True)
    return GpuReading(
        gpu=lineup_gpu.index,
        name=name,
        used_gib=status.memory_used_gib,
        total_gib=status.memory_total_gib,
        utilization=status.utilization,
        power_w=status.power_w,
        temperature_c=status.temperature_c,
        simulated=True,
        power_limit_w=status.power_limit_w,
        energy_j=status.energy_j,
    )
