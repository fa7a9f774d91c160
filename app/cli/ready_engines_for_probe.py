"""Provide ready engines for a probe: running ones, simulated ones, or ones launched for it."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx

from app.config import Settings
from app.engines.client import EngineClient, read_api_key
from app.engines.launch.engine_fleet import run_fleet
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.simulator_process import run_simulator
from app.errors import EnvironmentUnusable
from app.lineups.model import Engine, Lineup
from app.lineups.reader import require_lineup_path
from app.machine.gpus.gpu_reading import GpuSource
from app.machine.measuring.engine_startup_figures import EngineLoad, create_engine_load
from app.machine.sampling.sampler_setup import create_gpu_source
from app.runtime.data_folder import hold_lock

PLAY_SECONDS, LOOK_EVERY = 60.0, 0.1

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True)
class ReadyEngines:
    bases: Mapping[str, tuple[str, ...]]
    cards: GpuSource
    loaded: Mapping[tuple[str, int], EngineLoad]
    """Load measurements of the replicas launched for the probe, by engine and replica."""


@asynccontextmanager
async def open_engines(
    settings: Settings, lineup: Lineup, engines: Sequence[Engine], http: httpx.AsyncClient, report: ProgressCallback
) -> AsyncIterator[ReadyEngines]:
    async with AsyncExitStack() as stack:
        bases = {engine.name: engine.addresses for engine in engines if not engine.simulation}
        if played := [name for name, engine in lineup.engines.items() if engine.simulation]:
            log = settings.data / "probe-simulator.log"
            path = require_lineup_path(settings.lineup)
            simulator = await stack.enter_async_context(run_simulator(path, played, settings.speed, log))
            bases |= simulator.bases
            report("the simulator loads")
            simulated = [one for one in engines if one.simulation]
            await asyncio.gather(*(_wait_for_simulated(http, one, bases[one.name][0]) for one in simulated))
        cards = create_gpu_source(lineup, bases, http)
        stack.push_async_callback(cards.close)
        loaded: dict[tuple[str, int], EngineLoad] = {}
        if missing := [one for one in engines if one.launch and not await _are_replicas_ready(http, one)]:
            loading = _launch_and_measure_loads(settings, lineup, missing, http, cards, report)
            loaded = await stack.enter_async_context(loading)
        yield ReadyEngines(bases, cards, loaded)


async def _are_replicas_ready(http: httpx.AsyncClient, engine: Engine) -> bool:
    clients = [EngineClient(http, base, key=read_api_key(engine)) for base in engine.addresses]
    return all([await client.is_ready(engine.wire_name) for client in clients])


async def _wait_for_simulated(http: httpx.AsyncClient, engine: Engine, base: str) -> None:
    client = EngineClient(http, base)
    try:
        async with asyncio.timeout(PLAY_SECONDS):
            while not await client.is_ready(engine.model):  # noqa: ASYNC110  another process becomes ready
                await asyncio.sleep(LOOK_EVERY)
    except TimeoutError as exc:
        late = f"{engine.name} was not ready within {PLAY_SECONDS:.0f} s"
        raise EnvironmentUnusable(f"{late}: try a higher --speed.") from exc


@asynccontextmanager
async def _launch_and_measure_loads(
    settings: Settings,
    lineup: Lineup,
    engines: Sequence[Engine],
    http: httpx.AsyncClient,
    cards: GpuSource,
    report: ProgressCallback,
) -> AsyncIterator[dict[tuple[str, int], EngineLoad]]:
    idle = {(card.host, card.gpu): card.used_gib for card in await cards.read() if card.used_gib is not None}
    with hold_lock(settings.lock_path):
        async with run_fleet({engine.name: engine for engine in engines}, settings.data, http) as ours:
            loaded = {}
            for one in (one for replicas in ours.values() for one in replicas):
                seconds = await wait_until_loaded(one, report)
                own = [gpu for gpu in lineup.gpus if gpu.index in one.command.gpus and gpu.key in idle]
                before = {gpu.index: idle[gpu.key] for gpu in own}
                loaded[one.engine.name, one.replica] = create_engine_load(one, seconds, before)
            yield loaded


async def wait_until_loaded(replica: LaunchedReplica, report: ProgressCallback) -> float | None:
    """Wait until the replica is ready. Return its load time in seconds, or None if it was already running.

    Raise EnvironmentUnusable with the reason if it ends instead."""
    while True:
        look = replica.read_status()
        if look.state == "dead":
            raise EnvironmentUnusable(f"{replica.name} did not start: {look.detail}")
        if look.state == "ready":
            return replica.load_seconds
        report(f"{replica.name} is loading: {look.detail}")
        await asyncio.sleep(LOOK_EVERY)
