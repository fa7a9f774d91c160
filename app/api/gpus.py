"""The GPUs as they are now, with the last minutes of each."""

import time
from collections.abc import Sequence
from typing import Annotated, NamedTuple

from fastapi import Query
from pydantic import Field

from app.api.problem import documented
from app.api.route import router as api_router
from app.api.wire import Figure, Point, Series, Wire, figure
from app.deps import TheWorker
from app.events.kinds import GpuSampled
from app.events.record import Recorded, stamp
from app.events.words import Provenance

router = api_router("machine")


class Sensor(NamedTuple):
    field: str
    unit: str
    nvml: str


_SENSORS = {
    "memory_used": Sensor("used_gib", "GiB", "NVML memory info, reserved memory apart"),
    "memory_total": Sensor("total_gib", "GiB", "NVML memory info"),
    "utilization": Sensor("utilization", "%", "NVML utilization rates"),
    "power": Sensor("power_w", "W", "NVML power usage"),
    "temperature": Sensor("temperature_c", "Cel", "NVML temperature"),
}
_HISTORY = ("memory_used", "utilization", "power", "temperature")


class GpuHistory(Wire):
    memory_used: Series
    utilization: Series
    power: Series
    temperature: Series


class GpuView(Wire):
    gpu: int
    name: str
    engines: list[str]
    simulated: bool
    memory_used: Figure
    memory_total: Figure
    utilization: Figure
    power: Figure
    temperature: Figure
    history: GpuHistory


class GpuList(Wire):
    gpus: list[GpuView]
    reason: str = Field(description="Why figures are missing; empty when none are.")


@router.get("/gpus", responses=documented())
def list_gpus(
    worker: TheWorker,
    seconds: Annotated[int, Query(ge=1, le=3600, description="How far the history reaches back.")] = 60,
) -> GpuList:
    now = time.time()
    past = [one for one in worker.store.samples(now - seconds, now) if isinstance(one.event, GpuSampled)]
    views = [_view(worker, gpu, at, event, past) for gpu, (at, event) in sorted(worker.board.gpus.items())]
    return GpuList(gpus=views, reason=worker.board.gpu_reason)


def _view(worker: TheWorker, gpu: int, at: float, event: GpuSampled, past: Sequence[Recorded]) -> GpuView:
    own = [(one.at, one.event) for one in past if isinstance(one.event, GpuSampled) and one.event.gpu == gpu]
    return GpuView(
        gpu=gpu,
        name=event.name,
        engines=[engine.name for engine in worker.lineup.engines.values() if gpu in engine.gpus],
        simulated=event.simulated,
        history=GpuHistory(**{name: _series(event, _SENSORS[name], own) for name in _HISTORY}),
        **{name: _figure(event, sensor, at) for name, sensor in _SENSORS.items()},
    )


def _figure(event: GpuSampled, sensor: Sensor, at: float) -> Figure:
    value: float | None = getattr(event, sensor.field)
    provenance, source = _origin(event, sensor)
    return figure(value, sensor.unit, "unsupported" if value is None else provenance, source, at)


def _series(event: GpuSampled, sensor: Sensor, own: Sequence[tuple[float, GpuSampled]]) -> Series:
    provenance, source = _origin(event, sensor)
    points = [Point(at=stamp(at), value=getattr(one, sensor.field)) for at, one in own]
    return Series(unit=sensor.unit, provenance=provenance, source=source, points=points)


def _origin(event: GpuSampled, sensor: Sensor) -> tuple[Provenance, str]:
    return ("simulated", "Temper's simulator") if event.simulated else ("measured", sensor.nvml)
