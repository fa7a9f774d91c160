"""Opening a worker for the length of a command: its lock, its line-up, its engines."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from app.config import Settings
from app.engines.simulated import simulated
from app.lineup import Lineup
from app.lineup_file import find_lineup, read_lineup
from app.lock import held
from app.worker import Worker, working


@asynccontextmanager
async def opened(settings: Settings, lineup: Lineup) -> AsyncIterator[Worker]:
    with held(settings.lock):
        async with _engines(settings, lineup) as bases, working(settings, lineup, bases) as worker:
            yield worker


def chosen_lineup(settings: Settings) -> Lineup:
    return read_lineup(find_lineup(settings.lineup))


@asynccontextmanager
async def _engines(settings: Settings, lineup: Lineup) -> AsyncIterator[dict[str, tuple[str, ...]]]:
    attached = {engine.name: engine.base_urls for engine in lineup.engines.values() if engine.base_urls}
    played = len(lineup.engines) - len(attached)
    if not played:
        yield attached
        return
    path, log = find_lineup(settings.lineup), settings.data / "simulator.log"
    async with simulated(path, played, settings.speed, log) as bases:
        yield attached | bases
