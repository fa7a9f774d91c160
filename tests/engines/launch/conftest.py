import asyncio
import signal
import socket
import sys
import time
from pathlib import Path

import httpx
import pytest

from app.engines.launch.engine_fleet import compute_data_folder_id
from app.engines.launch.launch_command import build_launch_command
from app.engines.launch.launched_replica import LaunchedReplica
from app.engines.launch.process_search import find_marked_processes, signal_marked_processes
from app.lineups.model import Engine, Launch

FAKE = Path(__file__).with_name("fake_vllm.py")
PATIENCE = 20.0


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def engine(how="", *, port=None, name="small", flags=()):
    launch = Launch(port or free_port(), (sys.executable, str(FAKE)), flags=flags, env={"FAKE": how} if how else {})
    return Engine(name, "Small", "org/small", "bf16", (0,), 1, 4096, served_name=name, launch=launch)


async def until(condition, seconds=PATIENCE):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        await asyncio.sleep(0.02)


@pytest.fixture
def home(tmp_path):
    """What is left of it at the end of a test ends with it."""
    folder = tmp_path / "data"
    (folder / "engines").mkdir(parents=True)
    yield folder
    signal_marked_processes(f"{compute_data_folder_id(folder)}/", signal.SIGKILL)


@pytest.fixture
async def launched(home):
    async with httpx.AsyncClient() as http:
        made = []

        def make(one):
            made.append(
                LaunchedReplica(
                    one, 0, build_launch_command(one, 0), compute_data_folder_id(home), home / "engines", http
                )
            )
            return made[-1]

        yield make
        for one in made:
            await one.stop()


def left(home):
    return find_marked_processes(f"{compute_data_folder_id(home)}/")


@pytest.fixture
async def http():
    async with httpx.AsyncClient() as client:
        yield client
