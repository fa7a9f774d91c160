"""Run the sampler of a line-up for the life of the process."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import partial

import httpx

from app.engines.client import read_api_key
from app.engines.launch.engine_fleet import Fleet, create_engine_by_pid_lookup
from app.engines.queue import EngineQueues
from app.events.bus import Bus
from app.events.record import MACHINE
from app.lineups.model import Lineup
from app.machine.gpus.dcgm_client import DcgmExporter
from app.machine.gpus.gpu_processes import GpuProcesses, Owner, ProcessOwners, get_empty_owner
from app.machine.gpus.gpu_reading import CombinedGpus, GpuSource
from app.machine.gpus.nvml_gpus import NvmlGpus
from app.machine.gpus.simulator_gpu_client import SimulatedGpus
from app.machine.measuring.engine_memory_estimate import estimate_real_gpu_engines
from app.machine.sampling.engine_watch import EngineWatch
from app.machine.sampling.machine_event_log_writer import MachineLog
from app.machine.sampling.sample_board import Board
from app.machine.sampling.sampler import Sampler
from app.store.events import EventStore


@asynccontextmanager
async def open_sampled_board(
    lineup: Lineup,
    bases: Mapping[str, tuple[str, ...]],
    http: httpx.AsyncClient,
    store: EventStore,
    machine: MachineLog,
    bus: Bus,
    queues: EngineQueues,
    launched: Fleet,
) -> AsyncIterator[Board]:
    traffic = queues.traffic
    board = Board(fits=await asyncio.to_thread(estimate_real_gpu_engines, lineup))
    engines = [
        EngineWatch(one, bases[name], http, traffic, read_api_key(one), launched.get(name, ()))
        for name, one in lineup.engines.items()
    ]
    gpus = create_gpu_source(lineup, bases, http, create_engine_by_pid_lookup(launched))
    sampler = Sampler(
        engines,
        gpus,
        machine,
        board,
        store,
        lineup,
        traffic.has_open_requests,
        partial(bus.is_followed, MACHINE),
        queues.call_ready_turns,
    )
    sampler.start()
    try:
        yield board
    finally:
        await sampler.close()


def create_gpu_source(
    lineup: Lineup,
    bases: Mapping[str, tuple[str, ...]],
    http: httpx.AsyncClient,
    find_launched_engine: Owner = get_empty_owner,
) -> GpuSource:
    """Create the source of a line-up's GPU readings. `find_launched_engine` knows the engine of a process of ours."""
    played = {name: bases[name] for name, engine in lineup.engines.items() if engine.simulation}
    real = {name: urls for name, urls in bases.items() if name not in played}
    at_work = {index for name in real for index in lineup.engines[name].gpus}
    here = [gpu for gpu in lineup.gpus if gpu.index in at_work and not gpu.host]
    sources: list[GpuSource] = [DcgmExporter(http, url) for url in lineup.dcgm_urls]
    if here:
        sources.insert(0, NvmlGpus(holders=GpuProcesses(ProcessOwners(real, find_launched_engine))))
    if played:
        sources.insert(0, SimulatedGpus(http, [gpu for gpu in lineup.gpus if gpu.index not in at_work], played))
    return sources[0] if len(sources) == 1 else CombinedGpus(sources, none_meant=not lineup.gpus)
