"""Start or adopt all engines of a line-up, stop them at exit, and stop engines that a killed Temper left behind."""

import asyncio
import hashlib
import logging
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import httpx

from app.engines.launch.launch_command import build_launch_command
from app.engines.launch.launched_replica import END_SECONDS, LaunchedReplica
from app.engines.launch.process_search import end_marked_processes, find_marked_processes, read_mark
from app.errors import EnvironmentUnusable
from app.lineups.model import Engine

log = logging.getLogger(__name__)

RUNTIMES = ("docker", "podman")
Fleet = dict[str, list[LaunchedReplica]]
"""Replicas by engine name."""


@asynccontextmanager
async def run_fleet(engines: Mapping[str, Engine], data: Path, http: httpx.AsyncClient) -> AsyncIterator[Fleet]:
    """Start all engines that have a launch section, yield them while they load, and stop them at exit."""
    wanted = {name: engine for name, engine in engines.items() if engine.launch}
    home = compute_data_folder_id(data)
    folder = data / "engines"
    if wanted:
        folder.mkdir(parents=True, exist_ok=True)
    ours = {name: _create_replicas(engine, home, folder, http) for name, engine in wanted.items()}
    await _stop_stale_engines(home, ours)
    try:
        await asyncio.gather(*(one.start() for replicas in ours.values() for one in replicas))
        yield ours
    finally:
        await asyncio.gather(*(one.stop() for replicas in ours.values() for one in replicas))


def create_engine_by_pid_lookup(fleet: Fleet) -> Callable[[int], str]:
    """Return a function from process id to engine name, which is empty for processes that are not ours."""

    def find_owner(pid: int) -> str:
        mark = read_mark(pid)
        return next((name for name, replicas in fleet.items() if any(one.owns_mark(mark) for one in replicas)), "")

    return find_owner


def compute_data_folder_id(data: Path) -> str:
    return hashlib.sha256(str(data.resolve()).encode()).hexdigest()[:12]


def _create_replicas(
    engine: Engine, data_folder_id: str, folder: Path, http: httpx.AsyncClient
) -> list[LaunchedReplica]:
    assert engine.launch
    runtime = _require_container_runtime() if engine.launch.image else ""
    commands = [build_launch_command(engine, number, runtime) for number in range(len(engine.replicas))]
    return [LaunchedReplica(engine, n, command, data_folder_id, folder, http) for n, command in enumerate(commands)]


def _require_container_runtime() -> str:
    for name in RUNTIMES:
        if shutil.which(name):
            return name
    raise EnvironmentUnusable(
        f"the line-up's engines run in containers, and there is no {' or '.join(RUNTIMES)} here: install one."
    )


async def _stop_stale_engines(data_folder_id: str, fleet: Fleet) -> None:
    """End what no replica of the fleet owns: engines of another line-up, and replicas that an engine had before."""
    replicas = [one for each in fleet.values() for one in each]
    running = {one.mark for one in await asyncio.to_thread(find_marked_processes, f"{data_folder_id}/")}
    stale = sorted(mark for mark in running if not any(one.owns_mark(mark) for one in replicas))
    for mark in stale:
        log.warning("engine %s of an earlier line-up still runs here: it is ended", mark.split("/")[1])
    await asyncio.gather(*(end_marked_processes(mark, END_SECONDS) for mark in stale))
