"""Opening a worker for the length of a command: its lock, its line-up, its engines."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager

from app.config import Settings
from app.engines.simulated import Simulator, simulated
from app.lineup import Lineup
from app.lineup_file import find_lineup, read_lineup
from app.lock import held
from app.worker import Worker, working


@asynccontextmanager
async def opened(settings: Settings, lineup: Lineup) -> AsyncIterator[Worker]:
    with held(settings.lock):
        attached = {engine.name: engine.base_urls for engine in lineup.engines.values() if engine.base_urls}
        played = [name for name in lineup.engines if name not in attached]
        async with AsyncExitStack() as stack:
            simulator = await stack.enter_async_context(_played(settings, played)) if played else None
            bases = attached | (simulator.bases if simulator else {})
            yield await stack.enter_async_context(working(settings, lineup, bases, simulator))


def chosen_lineup(settings: Settings) -> Lineup:
    return read_lineup(find_lineup(settings.lineup))


def _played(settings: Settings, engines: list[str]) -> AbstractAsyncContextManager[Simulator]:
    return simulated(find_lineup(settings.lineup), engines, settings.speed, settings.data / "simulator.log")
