"""What an operator sees and does with engines that Temper starts, over a real server and a real process."""

import sys
import time

import httpx
import pytest

from app.engines.launch.engine_fleet import compute_data_folder_id
from app.engines.launch.process_search import find_marked_processes
from tests.engines.launch.conftest import FAKE, free_port
from tests.served import served

PATIENCE = 30.0
LINEUP = """
title = "One card"
note = ""
[[gpus]]
index = 0
kind = "NVIDIA L4"
memory_gib = 23
bandwidth_gb_s = 300
[engines.small]
title = "Small"
model = "org/small"
served_name = "small"
precision = "bf16"
gpus = [0]
tp = 1
max_model_len = 4096
[engines.small.launch]
port = {port}
command = ["{python}", "{fake}"]
env = {{FAKE = "{how}"}}
"""
SEATS = "".join(
    f'[seats.{role}]\nengine = "small"\ntemperature = 0.1\nmax_tokens = 400\n'
    for role in ("architect", "worker", "auditor", "sentry")
)


@pytest.fixture
def started(tmp_path):
    """A server whose line-up launches the pretended vLLM, in the given manner."""

    def lineup(how):
        path = tmp_path / "mine.toml"
        path.write_text(LINEUP.format(port=free_port(), python=sys.executable, fake=FAKE, how=how) + SEATS)
        return path

    return lambda how="": served(tmp_path / "data", "--lineup", str(lineup(how)))


def until(http, good):
    end = time.monotonic() + PATIENCE
    while not good(engine := http.get("/api/v1/engines/small").json()):
        assert time.monotonic() < end, engine
    return engine


def test_a_cold_start_is_shown_step_by_step_and_the_engine_stopped_and_started(started, tmp_path):
    with started() as server, httpx.Client(base_url=server.url) as http:
        until(http, lambda engine: engine["state"] == "ready")
        page = http.get("/ops").text
        for words in ("weights loaded", "16.3 GiB of weights", "10,432 tokens", "vLLM 0.25.1", "Stop small"):
            assert words in page
        assert http.post("/ops/engines/small", data={"verb": "stop"}).status_code == 303
        assert find_marked_processes(f"{compute_data_folder_id(tmp_path / 'data')}/") == []
        until(http, lambda engine: engine["state"] == "absent")
        assert "Start small" in http.get("/ops").text
        assert http.post("/api/v1/engines/small/start").status_code == 202
        until(http, lambda engine: engine["state"] == "ready")
    assert find_marked_processes(f"{compute_data_folder_id(tmp_path / 'data')}/") == []


def test_an_engine_that_did_not_come_up_says_what_helps(started):
    with started("too long") as server, httpx.Client(base_url=server.url) as http:
        engine = until(http, lambda engine: engine["state"] == "dead")
        assert "max_model_len = 61856" in engine["detail"]
        page = http.get("/ops").text
        assert "Engine small is dead: the KV cache holds 65,120 tokens at most" in page
        assert 'id="log"' in page


def test_only_what_temper_started_can_be_handled(started):
    with started() as server, httpx.Client(base_url=server.url) as http:
        assert http.post("/ops/engines/large", data={"verb": "stop"}).status_code == 404
        assert http.post("/ops/engines/small", data={"verb": "explode"}).status_code == 422
        assert http.post("/api/v1/engines/large/stop").status_code == 404
