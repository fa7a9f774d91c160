"""`temper up` with what does as vLLM does: told step by step, and ended with us."""

import shlex
import signal
import subprocess
import sys

import pytest
import yaml
from typer.main import get_command

from app.cli.commands import serving
from app.engines.launch.engine_fleet import compute_data_folder_id
from app.engines.launch.process_search import find_marked_processes
from app.lineups.reader import read_lineup
from tests.engines.conftest import simulator
from tests.engines.launch.conftest import FAKE, free_port
from tests.forkserver import Temper, temper
from tests.test_cli import refused

LINEUP = """
title = "One"
[[gpus]]
index = 0
kind = "NVIDIA L4"
memory_gib = 22.03
bandwidth_gb_s = 300
[engines.small]
title = "Small"
model = "google/gemma-4-E2B-it"
served_name = "small"
precision = "bf16"
gpus = [0]
tp = 1
max_model_len = 4096
utilization = 0.9
vllm = "0.19.0"
[engines.small.launch]
port = {port}
command = ["{python}", "{fake}"]
flags = ["--reasoning-parser", "gemma4", "--tool-call-parser", "gemma4"]
env = {{FAKE = "{how}"}}
[seats]
architect = {{ engine = "small", temperature = 0.3, max_tokens = 400 }}
worker = {{ engine = "small", temperature = 0.1, max_tokens = 400 }}
auditor = {{ engine = "small", temperature = 0.2, max_tokens = 400 }}
sentry = {{ engine = "small", temperature = 0.2, max_tokens = 400 }}
"""


@pytest.fixture
def lines_of(tmp_path):
    """What `temper up` prints until a line that holds the words given; ended by SIGTERM, and its code."""

    def watch(how, last):
        lineup = tmp_path / "one.toml"
        lineup.write_text(LINEUP.format(port=free_port(), python=sys.executable, fake=FAKE, how=how))
        line = ["up", lineup, "--port", "0", "--data", tmp_path / "data"]
        process = Temper(*line, stdout=subprocess.PIPE, text=True)
        said = []
        for text in process.stdout:
            said.append(text.rstrip("\n"))
            if last in text:
                break
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.stdout.close()
        return said, process.wait(30)

    yield watch
    assert find_marked_processes(f"{compute_data_folder_id(tmp_path / 'data')}/") == []


@pytest.mark.timeout(60)
def test_each_step_of_a_cold_start_is_a_line(lines_of):
    said, code = lines_of("", "engines serve")
    assert code == 0
    assert said[0].startswith("Temper is at http://127.0.0.1:")
    steps = [line.split(" s  ", 1)[1] for line in said if " s  " in line]
    assert steps[1] == "weights loaded, 16.3 GiB of weights"
    assert steps[-1] == "server up"
    assert said[-1] == "1 of 1 engines serve."


@pytest.mark.timeout(60)
def test_an_engine_that_cannot_boot_is_a_sentence_and_the_page_stays(lines_of):
    said, code = lines_of("too long", "max_model_len")
    assert code == 0
    assert "small: " in said[-1]
    assert "61856" in said[-1]


def test_what_starts_nothing_has_no_papers_and_other_papers_are_not_known():
    assert "starts no engine" in refused("up", "simulated", "--print", "systemd")
    assert "choose systemd or compose" in refused("up", "gb10", "--print", "helm")


def test_what_the_doctor_says_will_not_boot_is_not_tried(tmp_path):
    text = LINEUP.format(port=free_port(), python=sys.executable, fake=FAKE, how="").replace("4096", "900000")
    lineup = tmp_path / "one.toml"
    lineup.write_text(text)
    said = refused("up", str(lineup), "--port", "0", "--data", str(tmp_path / "data"))
    assert "max_model_len" in said
    assert "--anyway" in said
    assert not (tmp_path / "data").exists()


def test_a_compose_file_is_of_no_image_that_a_tag_names(tmp_path):
    text = LINEUP.format(port=8101, python="vllm", fake="serve", how="well")
    command = 'command = ["vllm", "serve"]'
    assert command in text
    lineup = tmp_path / "one.toml"
    lineup.write_text(text.replace(command, f'{command}\nimage = "vllm/vllm-openai:v0.19.0"'))
    said = refused("up", str(lineup), "--print", "compose")
    assert "names the image vllm/vllm-openai:v0.19.0 by a tag: name it by its digest in the line-up" in said
    pinned = f"vllm/vllm-openai:v0.19.0@sha256:{'5' * 64}"
    lineup.write_text(text.replace(command, f'{command}\nimage = "{pinned}"'))
    done = temper("up", lineup, "--print", "compose")
    assert f'image: "{pinned}"' in done.stdout


def test_a_server_of_ones_own_is_asked_and_seated_as_serve_does(tmp_path):
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        words = ["up", "--engine", f"{running.root()}/v1", "--port", "0", "--data", tmp_path / "data"]
        process = Temper(*words, stdout=subprocess.PIPE, text=True)
        printed = [process.stdout.readline() for _ in range(2)]
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        process.stdout.close()
        assert process.wait(30) == 0
        assert printed[0].startswith("Temper is at http://127.0.0.1:")
        assert "starts no engine" in printed[1]
        engine = read_lineup(tmp_path / "data/endpoints.toml").engines["endpoint"]
        assert engine.base_urls == (f"{running.root()}/v1",)


def test_up_takes_a_line_up_or_addresses_and_one_of_them():
    assert "not both" in refused("up", "simulated", "--engine", "http://127.0.0.1:1/v1")
    assert "not both" in refused("up", "gb10", "--engine", "http://127.0.0.1:1/v1", "--print", "systemd")
    assert "--engine" in refused("up")
    assert "`temper lineups` lists them" in refused("up", "--print", "systemd")
    assert "is not an address" in refused("up", "--engine", "nonsense", "--print", "systemd")


@pytest.mark.parametrize("kind", ["systemd", "compose"])
def test_addresses_are_in_the_configuration_so_that_a_restart_keeps_them(tmp_path, kind):
    words = ("--engine", "architect=http://127.0.0.1:1/v1#big one", "--engine", "http://127.0.0.1:2/v1")
    temper("up", *words, "--print", kind, "--into", tmp_path)
    if kind == "systemd":
        assert sorted(path.name for path in tmp_path.iterdir()) == ["temper.service", "temper.target"]
        lines = (tmp_path / "temper.service").read_text().splitlines()
        started = shlex.split(next(line for line in lines if line.startswith("ExecStart=")).partition("=")[2])
        assert "EnvironmentFile=-/etc/temper/engine.env" in lines
    else:
        service = yaml.safe_load((tmp_path / "compose.yaml").read_text())["services"]
        assert list(service) == ["temper"]
        started = service["temper"]["command"]
        assert service["temper"]["environment"] == ["TEMPER_ENGINE_KEY"]
        assert "deploy" not in service["temper"]
    assert all(word in started for word in words)
    assert "--lineup" not in started
    parsed = (
        get_command(serving.app).commands["serve"].make_context("serve", list(started[started.index("serve") + 1 :]))
    )
    assert tuple(parsed.params["engine"]) == (words[1], words[3])
