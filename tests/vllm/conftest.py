"""A real `vllm serve` on this machine's CPU, launched by Temper from a line-up. `make test-vllm` runs what is here.

TEMPER_VLLM names the vllm program (0.24 or newer, built for CPU), TEMPER_VLLM_MODELS a folder with the model folders
gemma4 and gemma4-mtp: Gemma 4 in a tiny shape, random weights."""

import os
import signal
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from app.engines.launch.engine_fleet import compute_data_folder_id
from app.engines.launch.process_search import find_marked_processes, signal_marked_processes
from tests.engines.launch.conftest import free_port
from tests.served import Server, served

LOAD_SECONDS = 300
GRAMMAR = """'{"backend":"xgrammar","disable_any_whitespace":true}'"""
LINEUP = """
title = "On the CPU, random weights"

[[gpus]]
index = 0
kind = "CPU"
memory_gib = 24
bandwidth_gb_s = 20

[engines.tiny]
title = "Tiny Gemma 4"
model = "{models}/gemma4"
served_name = "tiny"
precision = "bf16"
gpus = [0]
tp = 1
max_model_len = 4096
max_num_seqs = 8
eager = true
kv_cache_bytes = 134217728
text_only = true
vllm = "0.32.0"
{speculation}
[engines.tiny.launch]
port = {port}
command = ["{vllm}", "serve"]
flags = ["--dtype", "bfloat16", "--structured-outputs-config", {grammar}{flags}]

[seats]
architect = {{ engine = "tiny", temperature = 0.3, max_tokens = 800 }}
worker = {{ engine = "tiny", temperature = 0.1, max_tokens = 800 }}
auditor = {{ engine = "tiny", temperature = 0.2, max_tokens = 400 }}
sentry = {{ engine = "tiny", temperature = 0.2, max_tokens = 400 }}
"""


@dataclass(frozen=True)
class Kit:
    vllm: Path
    models: Path


@pytest.fixture(scope="session")
def kit():
    named = {name: os.environ.get(name, "") for name in ("TEMPER_VLLM", "TEMPER_VLLM_MODELS")}
    if missing := [name for name, value in named.items() if not Path(value).exists() or not value]:
        pytest.fail(f"set {' and '.join(missing)}: {__doc__.split('.', 2)[2].strip()}", pytrace=False)
    return Kit(Path(named["TEMPER_VLLM"]), Path(named["TEMPER_VLLM_MODELS"]))


class Site:
    """A line-up, the data folder that goes with it, and a Temper over them as often as one is wanted."""

    def __init__(self, folder: Path, lineup: Path, port: int) -> None:
        self.data, self.lineup, self.port = folder / "data", lineup, port

    @contextmanager
    def temper(self):
        with served(self.data, "--lineup", str(self.lineup)) as server:
            yield Watched(server)

    def processes(self):
        return find_marked_processes(f"{compute_data_folder_id(self.data)}/")


@dataclass
class Watched:
    server: Server

    def get(self, path: str):
        return httpx.get(f"{self.server.url}/api/v1{path}", timeout=30).json()

    def engine(self):
        return self.get("/engines")["engines"][0]

    def until_engine(self, *states: str):
        return self.until(self.engine, lambda engine: engine["state"] in states, LOAD_SECONDS)

    def until(self, look, condition, seconds: float):
        end = time.monotonic() + seconds
        while not condition(seen := look()):
            assert time.monotonic() < end, seen
            assert self.server.process.poll() is None, self.server.output()
            time.sleep(0.5)
        return seen


@pytest.fixture
def site(tmp_path, kit):
    """Whatever a test leaves behind ends with it."""
    made = []

    def make(speculation: str = "", flags: str = "") -> Site:
        port, lineup = free_port(), tmp_path / "cpu.toml"
        text = LINEUP.format(
            models=kit.models, vllm=kit.vllm, port=port, grammar=GRAMMAR, speculation=speculation, flags=flags
        )
        lineup.write_text(text)
        made.append(Site(tmp_path, lineup, port))
        return made[-1]

    yield make
    for one in made:
        signal_marked_processes(f"{compute_data_folder_id(one.data)}/", signal.SIGKILL)
