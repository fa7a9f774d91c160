"""Each fault on demand, as the client sees it over the wire."""

import asyncio
import json

import httpx
import pytest

from app.engines.client import EngineClient
from app.engines.simulator.faults import FaultQueue, SimulatedFault
from app.errors import EngineDied, EngineStalled, EngineUnavailable
from tests.engines.asking import ask, question, text
from tests.engines.conftest import Simulator, simulator


@pytest.fixture(autouse=True)
def nothing_left_over(instant: Simulator):
    yield
    faults = httpx.get(f"{instant.root()}/simulator/faults").json()["faults"]
    httpx.delete(f"{instant.root()}/simulator/faults")
    assert faults == []


async def test_without_a_fault_the_answer_is_whole(http, instant: Simulator):
    *deltas, finished = await ask(http, f"{instant.root()}/v1")
    assert json.loads(text(deltas, "answer")) == {"approach": "Set the option.", "risk": "Root can no longer log in."}
    assert text(deltas, "thought").startswith("The setting stands in one place.")
    assert (finished.finish_reason, finished.leaked) == ("stop", False)
    assert len(deltas) <= 10


async def test_broken_json_stops_as_if_it_were_whole(http, instant: Simulator):
    instant.fault("broken_json")
    *deltas, finished = await ask(http, f"{instant.root()}/v1")
    with pytest.raises(json.JSONDecodeError, match="control character"):
        json.loads(text(deltas, "answer"))
    assert finished.finish_reason == "stop"


async def test_a_thought_in_the_wrong_channel_is_a_leak(http, instant: Simulator):
    instant.fault("wrong_channel")
    *deltas, finished = await ask(http, f"{instant.root()}/v1")
    assert text(deltas, "thought") == ""
    assert text(deltas, "answer").startswith("<|channel>thought\nThe setting")
    assert finished.leaked


async def test_an_empty_answer_is_a_leak(http, instant: Simulator):
    instant.fault("empty")
    *deltas, finished = await ask(http, f"{instant.root()}/v1")
    assert text(deltas, "answer") == ""
    assert text(deltas, "thought").endswith("}")
    assert finished.leaked


@pytest.mark.parametrize("kind", ["split_utf8", "u2028"])
async def test_odd_text_comes_through_whole(http, instant: Simulator, kind):
    instant.fault(kind)
    *deltas, finished = await ask(http, f"{instant.root()}/v1")
    thought = text(deltas, "thought")
    assert thought.endswith("– naïve, 界, ✓" if kind == "split_utf8" else "\u2028")
    assert json.loads(text(deltas, "answer"))["approach"] == "Set the option."
    assert (finished.finish_reason, finished.leaked) == ("stop", False)


async def test_split_utf8_really_cuts_characters(http, instant: Simulator):
    instant.fault("split_utf8")
    body = {"model": "nvidia/Gemma-4-31B-IT-NVFP4", "messages": [{"role": "user", "content": "x"}], "stream": True}
    async with http.stream("POST", f"{instant.root()}/v1/chat/completions", json=body) as response:
        pieces = [piece async for piece in response.aiter_raw()]
    assert any(piece[-1] >= 0xC0 for piece in pieces)
    assert "naïve, 界" in b"".join(pieces).decode()


async def test_babble_runs_into_the_limit(http, instant: Simulator):
    instant.fault("babble")
    *deltas, finished = await ask(http, f"{instant.root()}/v1", max_tokens=300)
    assert (finished.finish_reason, finished.completion_tokens) == ("length", 300)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text(deltas, "answer"))


async def test_a_full_queue(http, instant: Simulator):
    instant.fault("503", times=2)
    for _ in range(2):
        with pytest.raises(EngineUnavailable, match="queue is full"):
            await ask(http, f"{instant.root()}/v1")
    assert (await ask(http, f"{instant.root()}/v1"))[-1].finish_reason == "stop"


async def test_a_stall_after_some_tokens(http, instant: Simulator):
    instant.fault("stall", after_tokens=3)
    replies = EngineClient(http, f"{instant.root()}/v1").stream_reply(question(), stall_after=0.2)
    assert (await anext(replies)).tokens == 3
    with pytest.raises(EngineStalled):
        await anext(replies)


async def test_a_fault_waits_for_its_role_and_purpose(http, instant: Simulator):
    instant.fault("empty", role="worker")
    instant.fault("empty", purpose="reflect")
    assert not (await ask(http, f"{instant.root()}/v1"))[-1].leaked
    assert (await ask(http, f"{instant.root()}/v1", purpose="reflect"))[-1].leaked
    assert (await ask(http, f"{instant.root()}/v1", purpose="act"))[-1].leaked


async def test_a_slow_engine_keeps_a_tenth_of_its_pace(http, brisk: Simulator):
    await ask(http, f"{brisk.root()}/v1", max_tokens=1)  # its first answer is late, and all of it is due at once
    brisk.fault("slow")
    replies = await ask(http, f"{brisk.root()}/v1", max_tokens=40)
    assert replies[-1].decode_rate == pytest.approx(75.5, rel=0.2)


async def until_refused(http, url: str) -> None:
    async with asyncio.timeout(5):
        while True:
            try:
                await http.get(url)
            except httpx.TransportError:
                return


async def test_death_says_so_once_and_then_nobody_is_there(http):
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        running.fault("die", after_tokens=2)
        base_url = f"{running.root()}/v1"
        with pytest.raises(EngineDied, match=r"middle of its answer: EngineCore encountered an issue\."):
            await ask(http, base_url)
        assert (await http.get(f"{running.root()}/health")).status_code == 503
        await until_refused(http, f"{running.root()}/version")
        with pytest.raises(EngineUnavailable, match="is the engine running"):
            await ask(http, base_url)
        assert (await ask(http, f"{running.root('gemma-e4b')}/v1", engine="gemma-e4b"))[-1].finish_reason == "stop"


async def test_a_dead_engine_can_come_back(http):
    with simulator("--speed", "0") as running:
        running.wait_until_ready()
        running.fault("die", recover=True)
        with pytest.raises(EngineDied):
            await ask(http, f"{running.root()}/v1")
        assert (await http.get(f"{running.root()}/health")).status_code == 503
        running.wait_until_ready()
        assert (await ask(http, f"{running.root()}/v1"))[-1].finish_reason == "stop"


def test_faults_are_used_up_in_order():
    faults = FaultQueue()
    faults.waiting += [
        SimulatedFault(kind="slow", role="worker"),
        SimulatedFault(kind="empty", times=2),
        SimulatedFault(kind="503"),
    ]
    taken = [
        faults.take_fault("architect", "plan"),
        faults.take_fault("worker", "act"),
        *[faults.take_fault(None, "") for _ in range(3)],
    ]
    assert [fault and fault.kind for fault in taken] == ["empty", "slow", "empty", "503", None]


async def test_a_fault_that_is_none_is_refused(http, instant: Simulator):
    for wrong in ({"kind": "explode"}, {"kind": "die", "after": 3}, {"kind": "die", "times": 0}):
        answer = await http.post(f"{instant.root()}/simulator/faults", json=wrong)
        assert answer.status_code == 400
        assert "not a fault" in answer.json()["error"]["message"]
    assert (await http.get(f"{instant.root()}/simulator/faults")).json() == {"simulated": True, "faults": []}
