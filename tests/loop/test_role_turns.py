"""A turn that waits for its engine: on whose time, and how it leaves."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import msgspec
import pytest

from app.engines.queue import EngineQueue, TurnRequest
from app.engines.simulator.reply_creation import ChatRequest
from app.events.event_field_types import Budget
from app.events.kinds import (
    ActionRolledBack,
    RunFinished,
    RunPaused,
    RunStopped,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
)
from app.loop import role_turns
from app.loop.answers import Reflection
from app.loop.attempt_state import Attempt
from tests.loop.onfixture import OnFixture, answered

RULE = "V-257985"
OTHERS = TurnRequest("other", "act", 100, 300.0)


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@asynccontextmanager
async def waiting(tmp_path, **asked):
    """The run, while its first turn waits behind somebody else's."""
    clock = Clock()
    queue = EngineQueue(streams=lambda: 1, clock=clock)
    played = OnFixture(tmp_path / "host", queue=queue)
    async with queue.hold_turn(["http://engine/v1"], OTHERS):
        task = asyncio.create_task(played.run(RULE, **asked))
        while not queue.status.waiting:
            await asyncio.wait({task}, timeout=0.01)
        yield played, clock, task


async def test_time_behind_others_is_in_the_log_and_in_no_budget(tmp_path):
    async with waiting(tmp_path, budget=Budget(item_seconds=900)) as (played, clock, task):
        clock.now += 1000
        began = played.state.state.item.started
    await task
    first = played.events(TurnStarted)[0]
    assert first.waited_ms == 1_000_000
    assert all(one.waited_ms == 0 for one in played.events(TurnStarted)[1:])
    assert all(one.seconds < 10 for one in played.events(TurnFinished))
    assert played.state.state.items[RULE].started == pytest.approx(began + 1000, abs=5)
    assert played.events(RunFinished)[0].passed == 1


async def test_a_stop_leaves_the_queue_at_once(tmp_path):
    async with waiting(tmp_path) as (played, _, task):
        played.person.says("stop")
        await task
        assert played.state.services.seats["architect"].queue.status.waiting == 0
    assert played.events(RunStopped)
    assert not played.events(TurnStarted)
    assert not played.events(TurnInterrupted)


async def test_a_run_that_was_paused_while_it_waited_asks_nobody_until_it_goes_on(tmp_path):
    async with waiting(tmp_path) as (played, _, task):
        played.person.says("pause")
        while not played.events(RunPaused):
            await asyncio.wait({task}, timeout=0.01)
    queue = played.state.services.seats["architect"].queue
    while queue.status.waiting or queue._traffic.ours.total():
        await asyncio.wait({task}, timeout=0.01)
    assert not played.events(TurnStarted)
    played.person.says("resume")
    await task
    assert played.events(RunFinished)[0].passed == 1


async def test_a_change_that_is_open_when_a_run_pauses_is_judged_before_it_waits(tmp_path):
    async def pause_before_answer(request):
        if msgspec.json.decode(request.content, type=ChatRequest).purpose == "review" and not played.events(RunPaused):
            played.person.says("pause")
            while not played.events(RunPaused):
                await asyncio.wait({task}, timeout=0.01)
        return answered(request)

    played = OnFixture(tmp_path / "host", handler=pause_before_answer)
    task = asyncio.create_task(played.run(RULE))
    async with asyncio.timeout(20):
        while not played.events(ActionRolledBack):
            await asyncio.wait({task}, timeout=0.01)
    assert [one.purpose for one in played.events(TurnStarted)] == ["plan", "act", "review", "triage"]
    assert played.state.state.status == "paused"
    played.person.says("resume")
    await task
    assert played.events(RunFinished)[0].passed == 1


@pytest.mark.parametrize(("attempt", "counts"), [(1, "CONTINUE"), (2, "CONTINUE"), (3, "PIVOT"), (6, "PIVOT")])
def test_what_the_architect_decides_counts_every_third_attempt(attempt, counts):
    at = {"rule": RULE, "attempt": attempt}
    run = SimpleNamespace(
        rule_and_attempt_number=(RULE, attempt), current_attempt_event_fields=at, attempt=Attempt(attempt, 0.0)
    )
    _, reflected = role_turns._build_reflection_events(run, Reflection("m", "a", "PIVOT"))
    assert reflected.decision == counts
