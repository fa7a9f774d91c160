"""The simulator as a process: how it announces itself, loads and ends."""

import signal
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import httpx
import pytest

from app.lineups.reader import require_lineup_path
from tests.engines.conftest import MODELS, simulator

SIMULATED = require_lineup_path("simulated")


def run(*args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "app.engines.simulator", *args]
    return subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)


def test_it_ends_with_its_parent():
    with simulator("--speed", "0") as running:
        assert set(running.ports) == set(MODELS)
        running.process.stdin.close()
        assert running.process.wait(timeout=5) == 0


def test_sigterm_ends_it_at_once():
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        with httpx.stream("GET", f"{running.root()}/version"):
            running.process.send_signal(signal.SIGTERM)
            assert running.process.wait(timeout=1) == -signal.SIGTERM


def test_it_stays_small():
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        status = Path(f"/proc/{running.process.pid}/status").read_text()
        assert int(status.partition("VmRSS:")[2].split()[0]) < 60 * 1024


def test_a_cold_load_refuses_until_it_is_over():
    with simulator("--speed", "3") as running:
        refused = httpx.get(f"{running.root()}/health").status_code
        busy = httpx.get(f"{running.root()}/v1/models").json()["error"]["message"]
        early = httpx.get(f"{running.root()}/simulator/gpus").json()["gpus"][0]["memory_used_gib"]
        running.wait_until_ready()
        late = httpx.get(f"{running.root()}/simulator/gpus").json()["gpus"][0]["memory_used_gib"]
    assert (refused, busy) == (503, "The engine is loading.")
    assert early < late == 21.9


def test_the_ports_are_the_ones_asked_for():
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        free = [taken.getsockname()[1] for taken in (one, two)]
    with simulator("--speed", "0", "--ports", f"{free[0]},{free[1]},0") as running:
        assert list(running.ports.values())[:2] == free


def test_an_engine_answers_under_its_served_name(tmp_path):
    lineup = tmp_path / "named.toml"
    model = f'model = "{MODELS["gemma-31b"]}"'
    lineup.write_text(SIMULATED.read_text().replace(model, f'{model}\nserved_name = "stig"'))
    with simulator("--speed", "0", "--lineup", str(lineup)) as running:
        running.wait_until_ready()
        [card] = httpx.get(f"{running.root()}/v1/models").json()["data"]
        asked = {"messages": [{"role": "user", "content": "Rule: V-1"}], "max_tokens": 400}
        ask = partial(httpx.post, f"{running.root()}/v1/chat/completions")
        answer, refusal = ask(json={**asked, "model": "stig"}), ask(json={**asked, "model": MODELS["gemma-31b"]})
        metrics = httpx.get(f"{running.root()}/metrics").text
    assert (card["id"], card["root"]) == ("stig", MODELS["gemma-31b"])
    assert (answer.status_code, answer.json()["model"]) == (200, "stig")
    assert (refusal.status_code, refusal.json()["error"]["param"]) == (404, "model")
    assert 'model_name="stig"' in metrics


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--lineup", "simulatd"], "did you mean 'simulated'?"),
        (["--ports", "1,2"], "has 3 simulated engines and --ports names 2"),
        (["--answers", "/nowhere"], "is not a folder"),
        (["--speed", "-1"], "the speed is 0 or more"),
        (["--speed", "nan"], "the speed is 0 or more"),
        (["--ports", "70000,1,2"], "a port is a number"),
        (["--host", "203.0.113.1"], "cannot be taken"),
    ],
)
def test_what_cannot_work_is_said_in_one_line(args, words):
    ended = run(*args)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr


def test_a_taken_port_is_told_before_anything_is_announced():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = run("--ports", f"0,0,{taken.getsockname()[1]}")
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "cannot be taken: Address already in use" in ended.stderr


def test_a_lineup_without_a_simulated_engine(tmp_path):
    text = (
        'title = "x"\n[[gpus]]\nindex = 0\nkind = "x"\nmemory_gib = 1\nbandwidth_gb_s = 1\n'
        '[engines.a]\ntitle = "x"\nmodel = "x"\nprecision = "bf16"\ngpus = [0]\ntp = 1\nmax_model_len = 9\n'
        'base_urls = ["http://127.0.0.1:1/v1"]\n'
    ) + "".join(
        f'[seats.{role}]\nengine = "a"\ntemperature = 0\nmax_tokens = 1\n'
        for role in ("architect", "worker", "auditor", "sentry")
    )
    (path := tmp_path / "real.toml").write_text(text)
    assert "No engine of real is simulated" in run("--lineup", str(path)).stderr
