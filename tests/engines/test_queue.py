"""Turns and an engine's room, as a transcript: who is called when, who leaves, what is told of those who wait."""

import asyncio
from contextlib import AsyncExitStack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engines.queue import RECHECK_SECONDS, EngineQueue, TurnRequest
from app.engines.replica_choice import EngineTraffic, ReplicaReport
from tests.thorough import examples

BASE = "http://a/v1"


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Engine:
    """With a queue before it; `called` has who was let through, in order."""

    def __init__(self, streams=1, bases=(BASE,)):
        self.clock, self.traffic, self.bases = Clock(), EngineTraffic(), bases
        self.queue = EngineQueue(self.traffic, lambda: streams, clock=self.clock)
        self.called, self.turns, self.tasks, self.over = [], {}, {}, {}

    async def asks(self, name, purpose="plan", *, host=None, tokens=100, patience=300.0):
        self.over[name] = asyncio.Event()
        wanted = TurnRequest(host or name, purpose, tokens, patience)
        self.tasks[name] = asyncio.create_task(self._turn(name, wanted))
        await self.settled()

    async def _turn(self, name, wanted):
        async with self.queue.hold_turn(self.bases, wanted) as turn:
            self.called.append(name)
            self.turns[name] = turn
            await self.over[name].wait()

    async def ends(self, name):
        self.over[name].set()
        await self.tasks[name]
        await self.settled()

    async def settled(self):
        for _ in range(5):
            await asyncio.sleep(0)

    def passes(self, seconds):
        self.clock.now += seconds


@pytest.fixture
async def engine():
    made = Engine()
    yield made
    for task in made.tasks.values():
        task.cancel()
    await asyncio.gather(*made.tasks.values(), return_exceptions=True)


async def test_whose_change_stands_on_a_host_goes_before_a_new_plan(engine):
    await engine.asks("first")
    for name, purpose in (("planner", "plan"), ("worker", "act"), ("auditor", "review"), ("sentry", "triage")):
        await engine.asks(name, purpose)
    for name in ("first", "sentry", "auditor", "worker"):
        await engine.ends(name)
    assert engine.called == ["first", "sentry", "auditor", "worker", "planner"]


async def test_hosts_take_turns_and_of_one_host_who_came_first_goes_first(engine):
    await engine.asks("a1", host="a")
    await engine.asks("a2", host="a")
    await engine.asks("a3", host="a")
    await engine.asks("b1", host="b")
    for name in ("a1", "b1", "a2"):
        await engine.ends(name)
    assert engine.called == ["a1", "b1", "a2", "a3"]


async def test_a_long_prompt_is_not_overtaken_by_short_ones():
    engine = Engine(streams=None)
    engine.traffic.reports[BASE] = ReplicaReport(kv_tokens=1000, kv_used=0)
    await engine.asks("a", tokens=600)
    await engine.asks("long", tokens=700)
    await engine.asks("short", tokens=100)
    assert engine.called == ["a"]
    assert "1,000 tokens" in engine.queue.status.why
    await engine.ends("a")
    assert engine.called == ["a", "long", "short"]
    await engine.ends("long")
    await engine.ends("short")
    assert engine.traffic.compute_own_load(BASE).tokens == 0


async def test_who_is_cancelled_leaves_the_queue_at_once_and_gives_its_room_back(engine):
    await engine.asks("a")
    await engine.asks("b")
    engine.passes(4)
    assert (engine.queue.status.waiting, engine.queue.status.longest) == (1, 4.0)
    engine.tasks["b"].cancel()
    await engine.settled()
    assert engine.queue.status.waiting == 0
    await engine.asks("c")
    engine.tasks["a"].cancel()
    await engine.settled()
    assert engine.called == ["a", "c"]


async def test_time_behind_others_is_told_and_counted(engine):
    await engine.asks("a")
    await engine.asks("b")
    engine.passes(7)
    await engine.ends("a")
    assert (engine.turns["b"].waited, engine.turns["b"].away) == (7.0, 0.0)
    assert engine.queue.waited == 7.0
    assert sum(engine.queue.waits) == 2


async def test_where_nobody_answers_one_asks_and_the_others_wait_on_their_own_time():
    engine = Engine(streams=8)
    engine.traffic.unavailable.add(BASE)
    await engine.asks("a")
    await engine.asks("b", patience=300)
    await engine.asks("c", patience=20)
    assert engine.called == ["a"]
    assert engine.queue.status.why == "it is not ready"
    engine.passes(30)
    engine.queue.call_ready_turns()
    await engine.settled()
    assert engine.called == ["a"], "b is first, and has patience left"
    engine.passes(10)
    engine.traffic.unavailable.clear()
    engine.queue.call_ready_turns()
    await engine.settled()
    assert engine.called == ["a", "b", "c"]
    assert (engine.turns["b"].waited, engine.turns["b"].away) == (0.0, 40.0)
    for name in engine.called:
        await engine.ends(name)


async def test_patience_with_an_engine_that_is_gone_ends():
    engine = Engine(streams=8)
    engine.traffic.unavailable.add(BASE)
    await engine.asks("a")
    await engine.asks("b", patience=20)
    engine.passes(21)
    engine.queue.call_ready_turns()
    await engine.settled()
    assert engine.called == ["a", "b"]
    for name in engine.called:
        await engine.ends(name)


async def test_the_other_replica_is_asked_before_anybody_waits():
    engine = Engine(streams=1, bases=(BASE, "http://b/v1", "http://c/v1"))
    engine.traffic.unavailable.add("http://c/v1")
    engine.traffic.unhealthy.add("http://c/v1")
    for name in "abc":
        await engine.asks(name)
    assert [engine.turns[name].replica for name in engine.called] == [0, 1]
    await engine.ends("b")
    assert engine.turns["c"].replica == 1
    await engine.ends("a")
    await engine.ends("c")


async def test_who_waits_looks_again_by_himself():
    """Nobody ends and nobody tells: the room that others left is found."""
    engine = Engine(streams=2)
    engine.traffic.reports[BASE] = ReplicaReport(requests=1, ours=0)
    await engine.asks("a")
    await engine.asks("b")
    assert engine.called == ["a"]
    engine.traffic.reports[BASE] = ReplicaReport()
    async with asyncio.timeout(5 * RECHECK_SECONDS):
        while len(engine.called) < 2:
            await asyncio.wait({engine.tasks["b"]}, timeout=RECHECK_SECONDS / 4)
    await engine.ends("a")
    await engine.ends("b")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 400)), min_size=1, max_size=40), st.integers(1, 5))
def test_the_cache_is_never_promised_twice_and_everybody_gets_there(asked, streams):
    async def played():
        traffic, queue, most = EngineTraffic(), None, 0
        queue = EngineQueue(traffic, lambda: streams)
        traffic.reports[BASE] = ReplicaReport(kv_tokens=1000, kv_used=0)
        served = []

        async def turn(host, tokens):
            nonlocal most
            async with queue.hold_turn([BASE], TurnRequest(host, "act", tokens, 1.0)):
                held = traffic.compute_own_load(BASE)
                most = max(most, held.tokens)
                assert held.turns <= streams
                await asyncio.sleep(0)
                served.append(host)

        async with AsyncExitStack(), asyncio.TaskGroup() as group:
            for host, tokens in asked:
                group.create_task(turn(host, tokens))
        assert len(served) == len(asked)
        assert most <= 1000
        assert traffic.compute_own_load(BASE).tokens == 0

    asyncio.run(played())
