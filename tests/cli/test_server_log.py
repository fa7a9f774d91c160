"""The server's log: each thing that happens to a server is one line, and every line can be read by a program."""

import json
import logging
import re
import signal
import subprocess

import httpx
import pytest

from app.cli.server_log import CommandLog, JsonLog, TextLog, set_last_resort_format
from tests.forkserver import Temper
from tests.served import served


def record(message, *args, name="app.runtime.runtime", level=logging.INFO, exc_info=None, **fields):
    made = logging.LogRecord(name, level, "", 0, message, args, exc_info)
    made.created = 1795446127.1234
    vars(made).update(fields)
    return made


def test_a_line_of_text_has_time_level_logger_what_happened_and_fields():
    line = TextLog().format(record("run taken over", run="ab12", **{"from": "node-2"}, after_s=0.9, gone=None))
    assert line == "2026-11-23T15:02:07.123Z INFO  temper.runtime  run taken over  run=ab12 from=node-2 after_s=0.9"
    line = TextLog().format(record("it says %s", "no", name="uvicorn.error", level=logging.WARNING))
    assert line == "2026-11-23T15:02:07.123Z WARN  uvicorn.error  it says no"


def test_a_command_without_a_log_says_the_reason_too():
    line = CommandLog().format(record("engine failed", level=logging.ERROR, engine="gemma-31b", reason="no vllm"))
    assert line == 'engine failed  engine=gemma-31b reason="no vllm"'


def test_a_command_writes_its_warnings_in_that_form(monkeypatch):
    monkeypatch.setattr(logging, "lastResort", logging.StreamHandler())
    set_last_resort_format()
    assert isinstance(logging.lastResort.formatter, CommandLog)


def test_a_line_of_json_has_the_same_fields():
    line = JsonLog().format(record("run taken over", run="ab12", after_s=0.9))
    assert json.loads(line) == {
        "time": "2026-11-23T15:02:07.123Z",
        "level": "info",
        "logger": "temper.runtime",
        "message": "run taken over",
        "run": "ab12",
        "after_s": 0.9,
    }


@pytest.mark.parametrize("bad", ["x\nrun=cd34", 'x" run=cd34', "x run=cd34", "x\x1b[2J run=cd34", ""])
def test_no_value_makes_a_field_or_a_line_of_its_own(bad):
    text = TextLog().format(record("said %s", "no\nmore", reason=bad, run="ab12"))
    assert all(line.startswith("    ") for line in text.split("\n")[1:])
    assert "\x1b" not in text
    unquoted = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text)
    assert re.findall(r"run=\S+", unquoted) == ["run=ab12"]
    [line] = JsonLog().format(record("said %s", "no\nmore", reason=bad, run="ab12")).split("\n")
    assert json.loads(line) | {"reason": bad, "run": "ab12"} == json.loads(line)


def test_a_field_does_not_take_the_place_of_time_logger_or_message():
    said = json.loads(JsonLog().format(record("it happened", logger="theirs", time=0)))
    assert (said["logger"], said["message"]) == ("temper.runtime", "it happened")
    assert said["time"].startswith("2026-")


def test_a_traceback_is_set_in_and_is_one_field_of_json():
    exc = ValueError("no\nmore")
    told = record("it failed", exc_info=(type(exc), exc, None))
    first, *below = TextLog().format(told).split("\n")
    assert first.endswith("it failed")
    assert below
    assert all(line.startswith("    ") for line in below)
    assert json.loads(JsonLog().format(told))["traceback"].endswith("ValueError: no\nmore")


@pytest.mark.parametrize("form", [TextLog, JsonLog])
def test_no_traceback_of_the_log_holds_a_secret(form):
    exc = ConnectionError("no answer from postgresql://temper:hunter2@db/temper, password=hunter2")
    said = form().format(record("it failed", exc_info=(type(exc), exc, None)))
    assert "no answer from" in said
    assert "hunter2" not in said


class Logging:
    """A server whose log is JSON, read line by line as it comes."""

    def __init__(self, data, *words, environment=None):
        line = ["serve", "--data", data, "--port", "0", "--speed", "0", *words]
        pipe = subprocess.PIPE
        self.process = Temper(*line, stdout=pipe, stderr=pipe, text=True, env=environment)
        self.lines = []

    def until(self, message):
        """The first line from here on that says so."""
        for line in self.process.stderr:
            self.lines.append(json.loads(line))
            if self.lines[-1]["message"] == message:
                return self.lines[-1]
        raise AssertionError(self.lines)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.rest()

    def rest(self):
        """Log what comes until its end, and return what it says on standard output."""
        with self.process:
            out, err = self.process.communicate()
        self.lines += [json.loads(line) for line in err.splitlines()]
        return out


def test_a_server_logs_its_start_what_it_refuses_and_its_stop(tmp_path):
    server = Logging(tmp_path / "data", "--log-format", "json")
    started = server.until("server started")
    assert started["logger"] == "temper.cli"
    assert (started["kind"], started["database"], started["sign_in"]) == ("serve", "sqlite", False)
    assert started["node"] == str(server.process.pid), "a node's name, and without nodes the process's number"
    with httpx.Client(base_url=f"http://{started['address']}:{started['port']}") as client:
        assert client.post("/runs", headers={"origin": "https://elsewhere.example"}).status_code == 403
        for _ in range(3):
            assert client.get("/runs/none?token=temper_abc").status_code == 404
        assert client.get("/api/v1/runs?limit=none").status_code == 422
    out = server.stop()
    refused = [line for line in server.lines if line["message"] == "request refused"]
    assert [(line["kind"], line["status"]) for line in refused] == [
        ("cross-site", 403),
        ("not-found", 404),
        ("invalid", 422),
    ]
    assert refused[1]["path"] == "/runs/none"
    assert "temper_abc" not in json.dumps(server.lines)
    assert [line["message"] for line in server.lines[-2:]] == ["server stopping", "server stopped"]
    assert server.lines[-2]["reason"] == "SIGTERM"
    assert out == "", "where the log is for a program, nothing else is said"


def test_a_run_that_a_killed_server_left_is_logged_as_recovered(tmp_path):
    data = tmp_path / "data"
    with served(data, "--speed", "1", command="demo") as server:
        server.wait_for_kind("turn.started")
        [run] = server.runs()
        server.process.kill()
        server.process.wait()
        first = server.output().splitlines()
    assert re.search(r"^\S+Z INFO  temper\.cli  server started  address=127\.0\.0\.1 port=\d+ version=", first[0])
    after = Logging(data, environment={"TEMPER_LOG_FORMAT": "json", "PATH": ""})
    told = after.until("run recovered")
    assert (told["run"], told["host"], told["logger"]) == (run, "fixture", "temper.runtime")
    assert told["after_s"] < 60
    after.stop()


def test_what_ends_a_server_before_it_begins_is_a_line_as_well(tmp_path):
    server = Logging(tmp_path / "data", "--log-format", "json", "--lineup", "none-such")
    server.rest()
    [line] = server.lines
    assert line["level"] == "critical"
    assert "none-such" in line["message"]
