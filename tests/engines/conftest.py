"""The simulator as it is shipped: a process of its own, on loopback, that ends with the test."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

ANSWERS = Path(__file__).parent / "simulator" / "answers"
MODELS = {
    "gemma-31b": "nvidia/Gemma-4-31B-IT-NVFP4",
    "gemma-e4b": "google/gemma-4-E4B-it",
    "gemma-e2b": "google/gemma-4-E2B-it",
}


@dataclass(frozen=True)
class Simulator:
    process: subprocess.Popen[str]
    ports: dict[str, int]

    def root(self, engine: str = "gemma-31b") -> str:
        return f"http://127.0.0.1:{self.ports[engine]}"

    def wait_until_ready(self) -> None:
        for engine in self.ports:
            deadline = time.monotonic() + 20
            while httpx.get(f"{self.root(engine)}/health").status_code != 200:
                assert time.monotonic() < deadline

    def fault(self, kind: str, engine: str = "gemma-31b", **details: Any) -> None:
        httpx.post(f"{self.root(engine)}/simulator/faults", json={"kind": kind, **details}).raise_for_status()


@contextmanager
def simulator(*args: str) -> Iterator[Simulator]:
    command = [sys.executable, "-m", "app.engines.simulator", "--answers", str(ANSWERS), "--exit-with-parent", *args]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True) as process:
        announced = [json.loads(process.stdout.readline()) for _ in MODELS]
        assert {one["pid"] for one in announced} == {process.pid}
        yield Simulator(process, {one["engine"]: one["port"] for one in announced})
        process.stdin.close()


@pytest.fixture(scope="module")
def instant() -> Iterator[Simulator]:
    """Nothing waits."""
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        yield running


@pytest.fixture(scope="module")
def brisk() -> Iterator[Simulator]:
    """Fifty times the measured pace: 755 tokens a second on the 31B."""
    with simulator("--speed", "50") as running:
        running.wait_until_ready()
        yield running


@pytest.fixture
async def http() -> Any:
    async with httpx.AsyncClient() as client:
        yield client
