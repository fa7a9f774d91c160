"""`temper doctor` as a person types it: findings in a table or as JSON, and an end that a script can go by."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli.engine_doctor import BAD_INPUT, FINE, WILL_STOP, print_pitfalls_and_get_exit_code
from app.lineups.reader import LINEUPS
from tests.engines.endpoint_wire import play_endpoint
from tests.engines.test_server_capabilities import Server
from tests.forkserver import temper

LOGS = Path(__file__).parents[1] / "data" / "logs"


@pytest.fixture
def doctor(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "140")

    def ask(what="", log="", *, code, key_env="", as_json=False):
        assert print_pitfalls_and_get_exit_code(str(what), str(log), key_env, as_json=as_json) == code
        said = capsys.readouterr()
        return said.err if code == BAD_INPUT else said.out

    return ask


@pytest.fixture
def changed(tmp_path):
    """A shipped line-up with one thing changed, and its engines nowhere near this machine's ports."""

    def change(name, old, new):
        text = (LINEUPS / f"{name}.toml").read_text()
        assert old in text
        path = tmp_path / "changed.toml"
        path.write_text(re.sub(r"^port = \d+", "port = 1", text.replace(old, new), flags=re.MULTILINE))
        return path

    return change


def test_a_line_up_with_nothing_that_stops_it_ends_well(doctor, changed):
    said = doctor(changed("blackwell-mtp", "max_num_seqs = 32", "max_num_seqs = 31"), code=FINE)
    assert said.startswith("gemma-31b\n")
    assert "0 prevent the start" in said


def test_one_that_would_stop_ends_with_1_and_says_it_first(doctor, changed):
    path = changed("blackwell-mtp", 'method = "mtp"', 'method = ""')
    said = doctor(path, code=WILL_STOP)
    assert said.splitlines()[1].startswith("stop  mtp-without-method")
    [stop] = [
        one for one in json.loads(doctor(path, as_json=True, code=WILL_STOP))["findings"] if one["severity"] == "stop"
    ]
    assert list(stop) == ["check", "severity", "engine", "says", "fix"]
    assert (stop["check"], stop["engine"]) == ("mtp-without-method", "gemma-31b")


def test_a_server_of_another_kind_gets_the_settings_of_that_kind(doctor):
    ollama = Server(paths={"/api/version": {"json": {"version": "0.9.1"}}})
    with play_endpoint(ollama) as base:
        said = doctor(base, code=FINE)
        found = json.loads(doctor(base, as_json=True, code=FINE))
    assert said.startswith("Ollama 0.9.1\n")
    assert "OLLAMA_CONTEXT_LENGTH" in said
    assert (found["server"]["kind"], found["findings"]) == ("ollama", [])


def test_a_log_is_read_with_and_without_a_line_up(doctor):
    log = LOGS / "gpu-0.25.1-engine-init-failed.log"
    assert "cutlass is missing" in doctor("", log, code=WILL_STOP)
    findings = json.loads(doctor("l4x4-nvfp4", log, as_json=True, code=WILL_STOP))["findings"]
    assert {"fatal-line", "little-memory-left"} <= {one["check"] for one in findings}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "Give a line-up"),
        (("l4x4-nvfp5",), "did you mean 'l4x4-nvfp4'"),
        (("", "/no/such.log"), "cannot read /no/such.log (No such file"),
        (("", "/tmp"), "cannot read"),
        (("", str(LINEUPS / "gb10.toml")), "gb10.toml is a log of another program"),
        (("", "/dev/null"), "is empty"),
        (("http://",), "has no host"),
        (("http://h:port",), "is not an address"),
        (("http://127.0.0.1:1", "x"), "not both"),
    ],
)
def test_what_cannot_be_looked_at_is_one_sentence_and_2(doctor, words, says):
    said = doctor(*words, code=BAD_INPUT)
    assert said.count("\n") == 1
    assert says in said


def test_a_server_that_is_not_there_would_stop_a_run(doctor):
    assert "nothing answers at http://127.0.0.1:1" in doctor("http://127.0.0.1:1", code=WILL_STOP)


def test_another_program_on_an_engines_port_is_told(doctor, changed):
    """A web server that knows nothing of models, where the line-up would start its engine."""
    with subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], stdout=subprocess.PIPE, text=True
    ) as web:
        port = web.stdout.readline().split("port ")[1].split()[0]
        path = changed("blackwell-mtp", "port = 8101", f"port  = {port}")
        assert "not-vllm" in doctor(path, code=WILL_STOP)
        web.kill()


def test_the_command_is_there_and_ends_with_its_code():
    done = temper("doctor", "--log", LOGS / "gpu-0.25.1-engine-init-failed.log", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout)["findings"][0]["check"] == "fatal-line"
    assert done.stderr == ""
