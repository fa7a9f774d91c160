"""An engine as a real process: up, down, failed, adopted; and never anything left behind."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from app.cli.ready_engines_for_probe import wait_until_loaded
from app.engines.launch.engine_fleet import compute_data_folder_id, run_fleet
from app.engines.launch.launch_command import MARK
from app.engines.launch.process_search import find_marked_processes
from tests.engines.launch.conftest import engine, free_port, left, until


async def test_it_loads_step_by_step_and_is_ready_when_it_has_said_a_token(launched, home):
    one = launched(engine())
    assert one.read_status().state == "absent"
    await one.start()
    await until(lambda: one.read_status().state == "ready")
    assert [step.name for step in one.cold.steps] == [
        "engine starts", "weights loaded", "memory profiled", "KV cache laid out", "concurrency known",
        "graphs captured", "engine warm", "server up",
    ]  # fmt: skip
    assert [one.cold.find_figure(name) for name in ("weights loaded", "KV cache laid out")] == [16.3, 10_432]
    assert one.cold.version == "0.25.1"
    history = [json.loads(line) for line in (home / "engines/history.jsonl").read_text().splitlines()]
    assert [(row["engine"], row["vllm"]) for row in history] == [("small", "0.25.1")]


async def test_its_load_time_ends_when_it_was_ready_however_late_one_asks(launched, home):
    first, second = launched(engine()), launched(engine(name="other"))
    for one in (first, second):
        await one.start()
        await until(lambda one=one: one.read_status().state == "ready")
    rows = [json.loads(line) for line in (home / "engines/history.jsonl").read_text().splitlines()]
    seconds = [await wait_until_loaded(one, print) for one in (first, second)]
    assert [round(one, 1) for one in seconds] == [row["seconds"] for row in rows]


async def test_one_whose_load_time_cannot_be_kept_is_ready_and_its_end_is_seen(launched, home, caplog):
    (home / "engines/history.jsonl").mkdir()
    one = launched(engine())
    await one.start()
    await until(lambda: one.read_status().state == "ready")
    assert "the time that small took to load cannot be kept: Is a directory" in caplog.text
    os.kill(one.pid, signal.SIGKILL)
    await until(lambda: one.read_status().state == "dead")


async def test_stopping_leaves_no_process_behind_not_even_one_that_left_the_group(launched, home):
    one = launched(engine())
    await one.start()
    await until(lambda: len(left(home)) == 2)
    await one.stop()
    assert left(home) == []
    assert one.read_status().state == "absent"


async def test_a_command_whose_second_word_is_run_is_no_container_to_stop(launched, home):
    asked, runner = home / "asked", home / "uv"
    runner.write_text(f'#!/bin/sh\necho "$1" >>{asked}\nshift\nexec "$@"\n')
    runner.chmod(0o700)
    plain = engine()
    words = (str(runner), "run", *plain.launch.command)
    one = launched(replace(plain, launch=replace(plain.launch, command=words)))
    await one.start()
    await until(lambda: one.read_status().state == "ready")
    await one.stop()
    assert asked.read_text() == "run\n"
    assert left(home) == []


async def test_one_that_does_not_listen_to_sigterm_is_killed(launched, home):
    one = launched(engine("stubborn"))
    one.end_seconds = 0.3
    await one.start()
    await until(lambda: one.read_status().state == "ready")
    await one.stop()
    assert left(home) == []


async def test_a_boot_that_fails_says_what_helps_and_is_not_repeated(launched, home):
    one = launched(engine("too long"))
    await one.start()
    await until(lambda: one.read_status().state == "dead")
    assert "set max_model_len = 61856" in one.read_status().detail.lower()
    assert "ended by itself with code 1 while it loaded" in one.read_status().detail
    await until(lambda: left(home) == [])
    assert not (home / "engines/history.jsonl").exists()


async def test_the_cause_is_found_behind_a_long_log_and_without_a_newline(launched):
    one = launched(engine("floods"))
    await one.start()
    await until(lambda: one.read_status().state == "dead")
    assert "set max_model_len = 61856" in one.read_status().detail.lower()


async def test_an_end_without_a_fault_is_one_all_the_same(launched, home):
    one = launched(engine("ends"))
    await one.start()
    await until(lambda: one.read_status().state == "dead")
    assert "code 0" in one.read_status().detail
    assert str(one.log) in one.read_status().detail


async def test_one_that_is_killed_while_it_serves_is_dead_and_takes_its_children_along(launched, home):
    one = launched(engine())
    await one.start()
    await until(lambda: one.read_status().state == "ready")
    os.kill(one.pid, signal.SIGKILL)
    await until(lambda: one.read_status().state == "dead")
    assert "while it served" in one.read_status().detail
    assert left(home) == []


async def test_a_program_that_is_not_there_is_said(launched):
    missing = engine()
    missing = type(missing)(
        **{**vars(missing), "launch": type(missing.launch)(free_port(), ("/nowhere/vllm", "serve"))}
    )
    one = launched(missing)
    await one.start()
    assert "/nowhere/vllm cannot be started: No such file" in one.read_status().detail


ANSWERS = {"GET /health": "", "GET /v1/models": '{"data": [{"id": "small"}]}', "POST /v1/chat/completions": "{}"}


@pytest.fixture
async def stranger():
    """A server of somebody else that answers as the engine would."""

    async def answer(reader, writer):
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        text = ANSWERS[" ".join(head.split()[:2])]
        writer.write(f"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: {len(text)}\r\n\r\n{text}".encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", free_port(), reuse_port=True)
    async with server:
        yield server.sockets[0].getsockname()[1]


async def test_a_port_that_another_program_holds_is_said_and_its_answers_are_not_taken_for_ours(
    launched, home, stranger
):
    one = launched(engine(port=stranger))
    await one.start()
    look = one.read_status()
    assert look.state == "dead"
    assert f"port {stranger}, which the line-up gives to small, is held by another program" in look.detail
    assert f"process {os.getpid()} (" in look.detail
    assert left(home) == []


async def test_a_program_that_takes_the_port_while_the_engine_loads_is_not_counted_as_it(launched, home):
    one = launched(engine("hangs"))
    await one.start()
    await until(lambda: len(one.cold.steps) == 7)
    async with await asyncio.start_server(lambda *_: None, "127.0.0.1", one.command.port):
        await until(lambda: one.read_status().state == "dead")
    assert "is held by another program" in one.read_status().detail
    assert left(home) == []


async def test_a_second_load_knows_how_long_the_first_one_took(launched):
    one = launched(engine("hangs"))
    await one.start()
    await until(lambda: len(one.cold.steps) == 7)
    assert (one.read_status().share, one.read_status().eta_s) == (None, None)
    one._history.add(one.engine, one.cold, 60.0)
    look = one.read_status()
    assert look.state == "loading"
    assert 0 < look.eta_s <= 60
    assert 0 <= look.share < 1


KILLED = """
import asyncio, sys, httpx
from pathlib import Path
from app.engines.launch.engine_fleet import run_fleet
from tests.engines.launch.conftest import engine
async def main():
    async with httpx.AsyncClient() as http:
        async with run_fleet({"small": engine(port=int(sys.argv[2]))}, Path(sys.argv[1]), http) as ours:
            while ours["small"][0].read_status().state != "ready":
                await asyncio.sleep(0.02)
            print("up", flush=True)
            await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.fixture
def orphan(home):
    """A Temper that was killed -9 while its engine served."""
    port = free_port()
    with subprocess.Popen([sys.executable, "-c", KILLED, str(home), str(port)], stdout=subprocess.PIPE) as temper:
        assert temper.stdout.readline() == b"up\n"
        temper.kill()
    found = [one for one in left(home) if one.leads and one.mark.split("/")[1] == "small"]
    return port, min(one.pid for one in found)


async def test_what_a_killed_temper_left_running_is_taken_over(orphan, home, http):
    port, pid = orphan
    async with run_fleet({"small": engine(port=port)}, home, http) as ours:
        one = ours["small"][0]
        await until(lambda: one.read_status().state == "ready")
        assert (one.adopted, one.pid) == (True, pid)
        loads = (home / "engines/history.jsonl").read_text().splitlines()
        assert len(loads) == 1, "the time it has served is no load"
        assert one.cold.find_figure("weights loaded") == 16.3
    assert left(home) == []


async def test_what_was_started_otherwise_is_ended_and_started_anew(orphan, home, http):
    port, pid = orphan
    async with run_fleet({"small": engine(port=port, flags=("--another",))}, home, http) as ours:
        one = ours["small"][0]
        await until(lambda: one.read_status().state == "ready")
        assert not one.adopted
        assert one.pid != pid


async def test_what_is_no_longer_in_the_line_up_is_ended(orphan, home, http):
    async with run_fleet({"other": engine(name="other")}, home, http):
        assert find_marked_processes(f"{compute_data_folder_id(home)}/small/") == []


@pytest.fixture
def dropped(home):
    """A second replica that a killed Temper left running."""
    mark = {MARK: f"{compute_data_folder_id(home)}/small/1/0123456789abcdef"}
    with subprocess.Popen(["sleep", "600"], env={**os.environ, **mark}) as one:
        yield one
        one.kill()


async def test_a_replica_that_the_engine_no_longer_has_is_ended(dropped, home, http):
    async with run_fleet({"small": engine()}, home, http) as ours:
        assert dropped.poll() == -signal.SIGTERM
        await until(lambda: ours["small"][0].read_status().state == "ready")
