"""Start or adopt all engines of a line-up, stop them at exit, and stop engines that a killed Temper left behind."""

import asyncio
import hashlib
import logging
import shutil
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from app.engines.launch.command import command
from app.engines.launch.launched import END_SECONDS, Launched
from app.engines.launch.processes import mark_of, marked, signalled
from app.errors import Unusable
from app.lineups.model import Engine

log = logging.getLogger(__name__)

RUNTIMES = ("docker", "podman")
Fleet = dict[str, list[Launched]]
"""Replicas by engine name."""


@asynccontextmanager
async def fleet(engines: Mapping[str, Engine], data: Path, http: httpx.AsyncClient) -> AsyncIterator[Fleet]:
    """Start all engines that have a launch section, yield them while they load, and stop them at exit."""
    wanted = {name: engine for name, engine in engines.items() if engine.launch}
    home = home_of(data)
    folder = data / "engines"
    if wanted:
        folder.mkdir(parents=True, exist_ok=True)
    ours = {name: _replicas(engine, home, folder, http) for name, engine in wanted.items()}
    await _end_strangers(home, wanted)
    try:
        await asyncio.gather(*(one.start() for replicas in ours.values() for one in replicas))
        yield ours
    finally:
        await asyncio.gather(*(one.stop() for replicas in ours.values() for one in replicas))


def owner_of(fleet: Fleet) -> Callable[[int], str]:
    """Return a function from process id to engine name, which is empty for processes that are not ours."""

    def owner(pid: int) -> str:
        mark = mark_of(pid)
        return next((name for name, replicas in fleet.items() if any(one.owns(mark) for one in replicas)), "")

    return owner


def home_of(data: Path) -> str:
    return hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:12]


def _replicas(engine: Engine, home: str, folder: Path, http: httpx.AsyncClient) -> list[Launched]:
    assert engine.launch
    runtime = _runtime() if engine.launch.image else ""
    return [
        Launched(engine, number, command(engine, number, runtime), home, folder, http)
        for number in range(len(engine.replicas))
    ]


def _runtime() -> str:
    for name in RUNTIMES:
        if shutil.which(name):
            return name
    raise Unusable(
        f"the line-up's engines run in containers, and there is no {' or '.join(RUNTIMES)} here: install one."
    )


async def _end_strangers(home: str, wanted: Mapping[str, Engine]) -> None:
    """Stop engines of an earlier line-up."""
    running = {one.mark.split("/")[1] for one in await asyncio.to_thread(marked, f"{home}/")}
    for name in sorted(running - set(wanted)):
        prefix = f"{home}/{name}/"
        log.warning("engine %s of an earlier line-up still runs here: it is ended", name)
        await asyncio.to_thread(signalled, prefix, signal.SIGTERM)
        for _ in range(int(END_SECONDS * 10)):
            if not await asyncio.to_thread(marked, prefix):
                break
            await asyncio.sleep(0.1)
        await asyncio.to_thread(signalled, prefix, signal.SIGKILL)
