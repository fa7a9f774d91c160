"""The events of every run as one stream: in order, once, and gone on with by whoever comes back."""

import asyncio
from contextlib import asynccontextmanager

from sqlmodel import Session

from app.events.event_field_types import Budget
from app.events.kinds import EngineState, RunPreparing, RunQueued, RunStopped, TurnDelta
from app.events.log_writer import RunLog
from app.events.record import ALL, MACHINE, build_recorded_event
from app.store.rollouts import RolloutRow
from app.web.api.events import build_name_and_filtered_render, choose_stream_name_and_render
from app.web.stream.all_runs import KEPT, REACH
from app.web.stream.stream_registry import StreamRegistry
from tests.web.stream.watching import Socket, logging

SAMPLE = EngineState(engine="e", state="ready")
QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(), mode="auto", budget=Budget(), lineup="simulated", simulated=True
)
NAME, RENDER = choose_stream_name_and_render(with_prompts=True)


def delta(text):
    return TurnDelta(turn="t1", role="worker", channel="answer", text=text, tokens=1)


@asynccontextmanager
async def following(streams, after=None, kinds=()):
    """Somebody who watches all runs, from the first byte on."""
    socket, gone = Socket(), asyncio.Event()

    async def receive():
        await gone.wait()
        return {"type": "http.disconnect"}

    answer = streams.create_stream_response(ALL, *build_name_and_filtered_render(frozenset(kinds), NAME, RENDER), after)
    task = asyncio.create_task(answer({}, receive, socket.send))
    await socket.until(": temper")
    yield socket
    gone.set()
    await task


def lines(socket):
    return [line[6:] for line in socket.got.decode().split("\n") if line.startswith('data: {"seq"')]


async def test_two_runs_are_one_stream_and_who_was_cut_off_goes_on_without_gap_or_repeat(tmp_path):
    async with logging(tmp_path) as here:
        streams, other = StreamRegistry(here.bus, here.store), RunLog("0ther", here.writer)
        async with following(streams) as first:
            other.append(delta("one"))
            await here.say("two")
            other.append(RunStopped(by="op", reason="enough", tree=""))
            await other.flush()
            await first.until("run.stopped")
        ids = first.ids
        assert [line.split('"text":"')[1][:3] for line in lines(first)[:2]] == ["one", "two"]
        await here.say("while nobody watched")
        async with following(streams, ids[0]) as again:
            await here.say("and on")
            await again.until("and on")
        assert again.ids == list(range(ids[0] + 1, ids[-1] + 3))
        assert lines(again)[: len(ids) - 1] == lines(first)[1:]
        streams.close()


async def test_what_another_process_wrote_is_read_whole_and_samples_are_none_of_it(tmp_path):
    async with logging(tmp_path) as here:
        streams = StreamRegistry(here.bus, here.store)
        async with following(streams) as socket:
            first = build_recorded_event("far", 1, 1.0, delta("a"), "0")
            second = build_recorded_event("far", 2, 1.0, delta("b"), first.hash)
            await asyncio.to_thread(here.store.append, [first, second])
            here.bus.publish([build_recorded_event(MACHINE, 1, 1.0, SAMPLE, "")])
            here.bus.notify_external("far", 2)
            here.bus.notify_external("far", 2)
            await here.say("last")
            await socket.until("last")
        assert [line.split('"text":"')[1][:1] for line in lines(socket)] == ["a", "b", "l"]
        streams.close()


async def test_a_run_of_before_is_told_from_its_next_event_on(tmp_path):
    async with logging(tmp_path) as here:
        here.log.append(QUEUED)
        await here.say("before")
        streams = StreamRegistry(here.bus, here.store)
        here.bus.newest.clear()  # as in a process that has just begun
        async with following(streams) as socket:
            await here.say("after")
            await socket.until("after")
        assert "before" not in socket.got.decode()
        streams.close()


async def test_what_was_said_before_the_first_viewer_is_not_sent_while_a_run_is_prepared_or_a_rollout_is_under_way(
    tmp_path,
):
    async with logging(tmp_path) as here:
        names = ("words", "reason", "mode", "skill", "note", "by")
        rollout = RolloutRow(
            id="o1", hosts=1, state="stopping", simulated=True, asked_at=1.0, **dict.fromkeys(names, "")
        )
        with Session(here.store._engine) as session, session.begin():
            session.add(rollout)
        logs = [here.log, RunLog("o1", here.writer)]
        here.log.append(QUEUED, RunPreparing(worker="w"))
        for one in logs:
            one.append(delta("before"))
        await here.log.flush()
        streams = StreamRegistry(here.bus, here.store)
        here.bus.newest.clear()  # as in a process that has just begun
        async with following(streams) as socket:
            for one in logs:
                one.append(delta("after"))
            await here.say("last")
            await socket.until("last")
        assert [line.split('"text":"')[1][:5] for line in lines(socket)] == ["after", "after", 'last"']
        streams.close()


async def test_only_the_kinds_that_were_asked_for_are_sent(tmp_path):
    async with logging(tmp_path) as here:
        streams = StreamRegistry(here.bus, here.store)
        async with following(streams, kinds=("run.stopped",)) as socket:
            await here.say("a token")
            await here.end()
            await socket.until("run.stopped")
        assert len(lines(socket)) == 1
        streams.close()


async def test_an_id_of_another_process_or_of_long_ago_begins_anew(tmp_path):
    assert REACH < KEPT
    async with logging(tmp_path) as here:
        streams = StreamRegistry(here.bus, here.store)
        for unknown in (0, 17, 2**52):
            async with following(streams, unknown) as socket:
                await socket.until("event: reset")
        streams.close()
