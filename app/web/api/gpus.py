"""The GPUs now, their memory by owner, and their recent history."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from fastapi import Query
from pydantic import Field

from app.events.event_field_types import GpuProcess, Provenance
from app.events.kinds import GpuSampled
from app.events.record import Recorded, format_timestamp
from app.machine.gpus.memory_waterfall import Kind, MemoryPart
from app.machine.sampling.memory_attribution import attribute_memory
from app.machine.sampling.sensor_provenance import describe_gpu_data_source, to_sensor_reading
from app.people.rights import viewers
from app.runtime.runtime import Runtime
from app.web.api.api_model import ApiModel, Figure, Point, Series, create_figure
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
from app.web.deps import TheRuntime

router = api_router("machine")

_FIGURES = msgspec.toml.decode(Path(__file__).with_name("gpu_figures.toml").read_bytes(), type=dict[str, str])
_HISTORY = ("memory_used", "utilization", "power", "temperature", "sm_clock")


class GpuHistory(ApiModel):
    memory_used: Series
    utilization: Series
    power: Series
    temperature: Series
    sm_clock: Series


class ProcessView(ApiModel):
    pid: int = Field(description="Process id on the GPU's own machine. A container may count differently.")
    name: str = Field(description="Name that the GPU reports, or a note that it cannot be read from here.")
    engine: str = Field(description="Engine of the line-up; empty if unknown.")
    memory: Figure


class PartView(ApiModel):
    """One part of the GPU's memory. All parts add up to the total."""

    kind: Kind
    engine: str
    memory: Figure
    claimed: Figure | None = Field(description="Memory that its source claims, if more than there is room for.")


class GpuView(ApiModel):
    gpu: int = Field(description="Index on its own machine, in PCI order.")
    host: str = Field(description="Empty for this machine.")
    name: str
    engines: list[str]
    simulated: bool
    unified: bool = Field(description="The GPU shares the host's memory: used and total are the host's.")
    mig: bool = Field(description="The GPU is divided into MIG devices and reports no utilization.")
    throttled: list[str] = Field(description="Why its clocks are throttled; empty if they are not.")
    ecc_uncorrected: int | None = Field(description="Memory errors since the driver was loaded; None means unknown.")
    memory_used: Figure
    memory_total: Figure
    memory_reserved: Figure
    utilization: Figure
    power: Figure
    power_limit: Figure
    temperature: Figure
    energy: Figure
    sm_clock: Figure
    memory_clock: Figure
    pcie_received: Figure
    pcie_sent: Figure
    processes: list[ProcessView]
    waterfall: list[PartView]
    history: GpuHistory


class GpuList(ApiModel):
    gpus: list[GpuView]
    reason: str = Field(
        description="Why figures are missing or may belong to other GPUs; empty if there is no problem."
    )


@router.get("/gpus", responses=build_problem_responses())
@viewers
def list_gpus(
    runtime: TheRuntime, seconds: Annotated[int, Query(ge=1, le=3600, description="Length of the history.")] = 60
) -> GpuList:
    """List the GPUs with every sensor, its source and its age."""
    now = runtime.clock.now()
    past = runtime.store.read_samples(now - seconds, now, ("gpu.sample",))
    views = [
        _to_gpu_view(runtime, at, event, past)
        for _, (at, event) in sorted(runtime.board.mark_viewed_and_return_self().gpus.items())
    ]
    return GpuList(gpus=views, reason=runtime.board.gpu_reason)


def _to_gpu_view(
    runtime: Runtime, sampled_at: float, event: GpuSampled, all_gpu_samples: Sequence[Recorded]
) -> GpuView:
    key, lineup, exporters = (event.host, event.gpu), runtime.lineup, runtime.board.exporters
    samples = ((one.at, one.event) for one in all_gpu_samples if isinstance(one.event, GpuSampled))
    own = [(sampled_at, sample) for sampled_at, sample in samples if (sample.host, sample.gpu) == key]
    meant = {gpu.index for gpu in lineup.gpus if gpu.key == key}
    parts = attribute_memory(
        runtime.board.collect_engine_knowledge(lineup), event, describe_gpu_data_source(event, exporters)
    )
    return GpuView.from_source(
        event,
        engines=[engine.name for engine in lineup.engines.values() if meant & set(engine.gpus)],
        processes=[
            _to_process_view(one, sampled_at - event.ages.get("processes", 0.0), event) for one in event.processes
        ],
        waterfall=[_to_part_view(part, sampled_at) for part in parts],
        history=GpuHistory(**{name: _to_gpu_series(runtime, event, name, own) for name in _HISTORY}),
        **{name: _to_gpu_figure(runtime, event, name, sampled_at) for name in _FIGURES},
    )


def _to_gpu_figure(runtime: Runtime, event: GpuSampled, figure_name: str, at: float) -> Figure:
    reading = to_sensor_reading(event, _FIGURES[figure_name], runtime.board.exporters)
    return Figure.from_source(reading, at=at - reading.age)


def _to_gpu_series(
    runtime: Runtime, event: GpuSampled, name: str, timed_samples: Sequence[tuple[float, GpuSampled]]
) -> Series:
    reading = to_sensor_reading(event, _FIGURES[name], runtime.board.exporters)
    points = [Point(at=format_timestamp(at), value=getattr(one, _FIGURES[name])) for at, one in timed_samples]
    return Series.from_source(reading, points=points)


def _to_process_view(process: GpuProcess, read_at: float, event: GpuSampled) -> ProcessView:
    known: Provenance = "simulated" if event.simulated else "measured"
    provenance = "unsupported" if process.used_gib is None else known
    return ProcessView.from_source(
        process, memory=create_figure(process.used_gib, "GiB", provenance, "NVML, per process", read_at)
    )


def _to_part_view(part: MemoryPart, at: float) -> PartView:
    memory = Figure.from_source(part, value=round(part.gib, 3), unit="GiB", at=at)
    claimed = None if part.claimed_gib is None else memory.model_copy(update={"value": round(part.claimed_gib, 3)})
    return PartView.from_source(part, memory=memory, claimed=claimed)
