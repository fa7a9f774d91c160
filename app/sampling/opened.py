"""The sampler of a line-up, at work for as long as its process."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

import httpx

from app.events.log import LogWriter
from app.gpus.nvml import Nvml
from app.gpus.reading import GpuSource
from app.gpus.simulated import SimulatedGpus
from app.lineup import Lineup
from app.sampling.board import Board
from app.sampling.engine import EngineWatch
from app.sampling.machine_log import MachineLog
from app.sampling.sampler import Sampler
from app.store.events import EventStore


@asynccontextmanager
async def sampled(
    lineup: Lineup, bases: Mapping[str, tuple[str, ...]], http: httpx.AsyncClient, store: EventStore, writer: LogWriter
) -> AsyncIterator[Board]:
    board = Board()
    engines = [EngineWatch(engine, bases[name], http) for name, engine in lineup.engines.items()]
    sampler = Sampler(engines, gpu_source(lineup, bases, http), MachineLog(writer, store.last_sample()), board, store)
    sampler.start()
    try:
        yield board
    finally:
        await sampler.close()


def gpu_source(lineup: Lineup, bases: Mapping[str, tuple[str, ...]], http: httpx.AsyncClient) -> GpuSource:
    played = {name: bases[name] for name, engine in lineup.engines.items() if engine.simulation}
    return SimulatedGpus(http, lineup.gpus, played) if played else Nvml()
