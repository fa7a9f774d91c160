"""What only a real vLLM can show: noise does no harm, figures are read right, a crash is told and not repeated."""

import json
import os
import re
import signal
import sqlite3
import subprocess
from collections import Counter

import httpx
import pytest

from app.engines.fit.lineup_estimate import plan_lineup
from app.lineups.reader import read_lineup
from app.targets.fixture.fixture_target import FixtureTarget
from tests.vllm.conftest import LOAD_SECONDS

RULES = ["V-257985", "V-258107", "V-257996"]
RUN_SECONDS = 600
ENDS = {"item.passed", "item.escalated", "item.skipped", "item.deferred"}


@pytest.mark.timeout(2 * LOAD_SECONDS + RUN_SECONDS)
def test_a_whole_run_on_noise_does_no_harm_and_what_was_planned_is_there(site):
    one = site()
    with one.temper() as temper:
        engine = temper.until_engine("ready", "dead")
        assert engine["state"] == "ready", engine["detail"]

        (fit,) = plan_lineup(read_lineup(one.lineup))
        held = temper.until(temper.engine, lambda seen: seen["kv_tokens"]["value"] is not None, 30)
        assert fit.kv_tokens.value == pytest.approx(held["kv_tokens"]["value"], rel=0.01)

        order = {"host": "fixture", "rules": RULES, "budget": {"attempts": 2, "item_seconds": 240}}
        run = httpx.post(f"{temper.server.url}/api/v1/runs", json=order).json()["id"]
        last = temper.until(
            lambda: temper.get(f"/runs/{run}"), lambda seen: seen["state"] not in ("queued", "running"), RUN_SECONDS
        )
        assert last["state"] == "finished"
        assert last["simulated"] is False
        before = set(one.processes())
        temper.server.process.send_signal(signal.SIGKILL)
        temper.server.process.wait()

    assert set(one.processes()) == before, "the engine outlives a killed Temper"
    events = [json.loads(line) for line in lines_of(one.data, run)]
    assert {event["rule"] for event in events if event["kind"] in ENDS} == set(RULES)
    assert kept(events) <= {event["rule"] for event in events if event["kind"] == "item.passed"}
    assert FixtureTarget("fixture", one.data / "hosts" / "fixture").list_pending() == []

    with one.temper() as temper:
        temper.until_engine("ready")
        assert set(one.processes()) == before, "taken over, not started anew"
    assert one.processes() == []


@pytest.mark.timeout(2 * LOAD_SECONDS)
def test_what_a_drafter_got_accepted_is_what_vllm_counts(site, kit):
    drafter = f'[engines.tiny.speculation]\nmethod = "mtp"\nmodel = "{kit.models}/gemma4-mtp"\ntokens = 2\n'
    one = site(speculation=drafter)
    with one.temper() as temper:
        engine = temper.until_engine("ready", "dead")
        assert engine["state"] == "ready", engine["detail"]
        base = f"http://127.0.0.1:{one.port}"
        # Before the first look at a busy engine there is nothing to take a difference to.
        before = counters(base)
        ask = {"model": "tiny", "messages": [{"role": "user", "content": "Count."}], "max_tokens": 400}
        httpx.post(f"{base}/v1/chat/completions", json=ask | {"ignore_eos": True}, timeout=120).raise_for_status()
        drafted, accepted = (now - was for now, was in zip(counters(base), before, strict=True))
        assert drafted > 0
        seen = temper.until(temper.engine, lambda seen: seen["acceptance_rate"]["value"] is not None, 60)
        assert 0 <= seen["acceptance_rate"]["value"] <= 1
        assert seen["acceptance_length"]["value"] == pytest.approx(1 + 2 * accepted / drafted, abs=0.25)


@pytest.mark.timeout(2 * LOAD_SECONDS)
def test_an_engine_that_crashes_on_its_first_request_is_said_to_and_stays_down(site, kit):
    broken = {"method": "mtp", "model": f"{kit.models}/gemma4-mtp", "num_speculative_tokens": 2}
    broken["rejection_sample_method"] = "synthetic"
    one = site(flags=f""", "--speculative-config", '{json.dumps(broken)}'""")
    with one.temper() as temper:
        engine = temper.until_engine("dead", "ready")
        assert engine["state"] == "dead"
        assert "ended by itself" in engine["detail"]
        assert one.processes() == []
        page = httpx.get(f"{temper.server.url}/ops", headers={"accept": "text/html"}).text
        assert "ended by itself" in page
        assert "Traceback" not in temper.server.output()


@pytest.mark.timeout(2 * LOAD_SECONDS)
def test_a_server_that_is_killed_leaves_no_engine_behind(site):
    one = site()
    with one.temper() as temper:
        temper.until_engine("ready", "dead")
        (leader,) = [process for process in one.processes() if process.leads]
        known = {process.pid for process in one.processes()}
        assert len(of_session(leader.pid)) > 1, "its engine and worker are processes of their own"
        assert of_session(leader.pid) <= known
        os.kill(leader.pid, signal.SIGKILL)
        assert temper.until_engine("dead")["detail"].startswith("it ended by itself")
        temper.until(lambda: of_session(leader.pid), lambda left: not left, 30)


def of_session(leader):
    """Whatever a process calls itself, and whatever it did to its environment."""
    found = subprocess.run(["ps", "-o", "pid=,stat=", "-s", str(leader)], capture_output=True, text=True, check=False)
    rows = [line.split() for line in found.stdout.splitlines()]
    return {int(pid) for pid, state in rows if not state.startswith("Z")}


def lines_of(data, run):
    with sqlite3.connect(f"file:{data / 'temper.sqlite'}?mode=ro", uri=True) as database:
        return [line for (line,) in database.execute("select line from event where run = ? order by seq", (run,))]


def kept(events):
    """Rules with a change on the host that nothing undid."""
    changes = Counter(event["rule"] for event in events if event["kind"] == "action.applied")
    changes.subtract(event["rule"] for event in events if event["kind"] == "action.rolled_back")
    return {rule for rule, number in changes.items() if number}


def counters(base):
    text = httpx.get(f"{base}/metrics").text
    return tuple(
        sum(float(value) for value in re.findall(rf"^vllm:{name}_total{{[^}}]*}} (\S+)$", text, re.MULTILINE))
        for name in ("spec_decode_num_draft_tokens", "spec_decode_num_accepted_tokens")
    )
