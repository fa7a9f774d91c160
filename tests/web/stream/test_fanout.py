"""A stream as its viewers see it: nothing lost, nothing twice, whoever comes late or reads slowly."""

import asyncio
import threading

import pytest

from app.events.bus import Bus
from app.events.kinds import RunPaused
from app.events.log_writer import LogWriter, RunLog
from app.web.stream.fanout import AT_ONCE, CHUNK, FRAME_SECONDS, Fanout, Frame, FrameRing, compute_frame_pause
from app.web.stream.run_and_machine_event_sources import RunSource
from tests.web.stream.watching import RUN, Socket, logging, said, watching


async def told_one(log, fanout, socket):
    fanout.start()
    async with watching(fanout, (socket, None)):
        await socket.until(": temper")
        await log.say("one")
        await socket.until("one")
    fanout.close()


async def test_a_viewer_gets_a_comment_at_once_and_then_what_happens(tmp_path):
    async with logging(tmp_path) as log:
        fanout, socket = log.fanout(), Socket()
        await told_one(log, fanout, socket)
    assert socket.got == b": temper\n\nid: 1\ndata: one\n\n"


async def test_a_late_viewer_gets_the_past_from_the_store_and_the_rest_live(tmp_path):
    async with logging(tmp_path) as log:
        await log.say(*(f"past {n}" for n in range(2 * CHUNK + 10)))
        fanout, late, resumed = log.fanout(), Socket(), Socket()
        fanout.start()
        async with watching(fanout, (late, 0), (resumed, CHUNK + 3)):
            await late.until(f"past {2 * CHUNK + 9}")
            await log.say("live")
            await late.until("live")
            await resumed.until("live")
        fanout.close()
    assert late.ids == list(range(1, 2 * CHUNK + 12))
    assert resumed.ids == list(range(CHUNK + 4, 2 * CHUNK + 12))


async def test_one_event_is_rendered_once_for_all(tmp_path):
    async with logging(tmp_path) as log:
        sockets = [Socket() for _ in range(30)]
        fanout = log.fanout()
        rendered = []
        render = fanout._render
        fanout._render = lambda batch: rendered.append(len(batch)) or render(batch)
        fanout.start()
        async with watching(fanout, *((socket, None) for socket in sockets)):
            await asyncio.gather(*(socket.until(": temper") for socket in sockets))
            await log.say("shared")
            await asyncio.gather(*(socket.until("shared") for socket in sockets))
        fanout.close()
    assert rendered == [1]


async def test_what_was_written_here_is_not_read_back_and_what_another_wrote_is(tmp_path):
    async with logging(tmp_path) as log:
        fanout, socket, read = log.fanout(), Socket(), []
        after = fanout._source.read_after
        fanout._source.read_after = lambda seq, *more: read.append(seq) or after(seq, *more)
        fanout.start()
        async with watching(fanout, (socket, None)):
            await socket.until(": temper")
            read.clear()
            await log.say("one", "two")
            await log.say("three")
            await socket.until("three")
            assert read == []
            elsewhere = LogWriter(log.store, Bus())
            elsewhere.start()
            RunLog(RUN, elsewhere, log.store.read_last_link(RUN)).append(RunPaused(by="a"), RunPaused(by="b"))
            await elsewhere.close()
            log.bus.notify_external(RUN, 5)
            await socket.until("id: 5")
            assert read == [3]
            log.log._seq, log.log._hash = log.store.read_last_link(RUN)
            await log.say("six")
            await socket.until("six")
        fanout.close()
    assert read == [3]
    assert socket.ids == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("at_hand", [True, False])
async def test_what_a_rendering_has_at_hand_is_told_without_a_thread_and_the_rest_by_one(tmp_path, at_hand):
    threads = []

    class Rendering:
        def __call__(self, batch):
            threads.append(threading.get_ident())
            return said(batch)

        def render_inline_if_cheap(self, batch):
            assert threading.get_ident() == here
            return self(batch) if at_hand else None

    here = threading.get_ident()
    async with logging(tmp_path) as log:
        fanout, socket = Fanout(RUN, log.bus, RunSource(log.store, RUN), Rendering()), Socket()
        await told_one(log, fanout, socket)
    assert [thread == here for thread in threads] == [at_hand]
    assert socket.ids == [1]


@pytest.mark.parametrize("pushed", [False, True])
async def test_a_full_socket_holds_nobody_up_and_misses_nothing(tmp_path, pushed):
    async with logging(tmp_path) as log:
        slow, quick, fanout = Socket(), Socket(), log.fanout(ring=FrameRing(frames=2))
        fanout.start()
        async with watching(fanout, (slow, None), (quick, None), pushed=pushed):
            await slow.until(": temper")
            await quick.until(": temper")
            slow.room.clear()
            for n in range(6):
                await log.say(f"word {n}")
                await quick.until(f"word {n}")
            assert slow.ids == []
            slow.room.set()
            await slow.until("word 5")
        fanout.close()
    assert slow.ids == quick.ids == [1, 2, 3, 4, 5, 6]
    assert quick.pushed == (6 if pushed else 0)


@pytest.mark.parametrize("room", [0, 1, 9])
async def test_who_takes_a_part_of_a_chunk_gets_the_rest_and_nothing_twice(tmp_path, room):
    async with logging(tmp_path) as log:
        short, fanout = Socket(takes=room), log.fanout()
        fanout.start()
        async with watching(fanout, (short, None), pushed=True):
            await short.until(": temper")
            for n in range(3):
                await log.say(f"word {n}")
                await short.until(f"word {n}")
        fanout.close()
    assert short.ids == [1, 2, 3]
    assert short.pushed == 3


async def test_between_some_hundreds_others_have_their_turn_and_who_left_meanwhile_gets_nothing(tmp_path):
    async with logging(tmp_path) as log:
        sockets, fanout, turns = [Socket() for _ in range(AT_ONCE + 2)], log.fanout(), []
        first, last = sockets[0], sockets[-1]

        def written(chunk):
            asyncio.get_running_loop().call_soon(lambda: turns.append(sum(one.pushed for one in sockets)))
            tasks[-1].cancel()
            return Socket.write(first, chunk)

        fanout.start()
        async with watching(fanout, *((socket, None) for socket in sockets), pushed=True) as tasks:
            await asyncio.gather(*(socket.until(": temper") for socket in sockets))
            first.write = written
            await log.say("word")
            await sockets[-2].until("word")
        fanout.close()
    assert turns == [AT_ONCE]
    assert last.ids == []
    assert all(socket.ids == [1] for socket in sockets[:-1])


def test_the_more_watch_the_longer_it_rests_so_that_half_of_the_time_is_left_for_all_else():
    assert compute_frame_pause(0.01) == pytest.approx(FRAME_SECONDS - 0.01)
    assert compute_frame_pause(0.08) == pytest.approx(0.08)


async def test_who_is_too_far_behind_is_told_to_start_anew(tmp_path):
    async with logging(tmp_path) as log:
        await log.say(*(f"past {n}" for n in range(20)))
        fanout, far, near, beyond = log.fanout(reach=10), Socket(), Socket(), Socket()
        fanout.start()
        async with watching(fanout, (far, 5), (near, 15), (beyond, 99)) as (first, _, last):
            await asyncio.gather(first, last)
            await near.until("past 19")
        fanout.close()
    reset = b': temper\n\nevent: reset\ndata: {"seq":20}\n\n'
    assert (far.got, beyond.got, near.ids) == (reset, reset, [16, 17, 18, 19, 20])


async def test_a_snapshot_newer_than_what_was_read_is_waited_for(tmp_path):
    async with logging(tmp_path) as log:
        await log.say("one")
        fanout, socket = log.fanout(reach=10), Socket()
        fanout.start()
        async with watching(fanout, (Socket(), 0)):
            unheard = LogWriter(log.store, Bus())
            unheard.start()
            ahead = RunLog(RUN, unheard, log.store.read_last_link(RUN))
            two, three = ahead.append(RunPaused(by="a")) + ahead.append(RunPaused(by="b"))
            await unheard.close()
            async with watching(fanout, (socket, 2)):
                await socket.until(": temper")
                log.bus.publish([two, three])
                await socket.until("id: 3")
        fanout.close()
    assert socket.got == b": temper\n\nid: 3\ndata: \n\n"


async def test_a_stream_ends_with_its_run_once_all_is_sent(tmp_path):
    async with logging(tmp_path) as log:
        fanout, live, late = log.fanout(), Socket(), Socket()
        fanout.start()
        async with watching(fanout, (live, None)) as (task,):
            await live.until(": temper")
            await log.say("last words")
            await log.end()
            await task
        async with watching(fanout, (late, 0)) as (task,):
            await task
        again, anew = log.fanout(), Socket()
        again.start()
        async with watching(again, (anew, 1)) as (task,):
            await task
    end = b'id: 2\nevent: end\ndata: {"seq":2}\n\n'
    assert live.got == late.got == b": temper\n\nid: 1\ndata: last words\n\nid: 2\ndata: \n\n" + end
    assert anew.got == b": temper\n\nid: 2\ndata: \n\n" + end


async def test_silence_is_broken_by_a_heartbeat(tmp_path):
    async with logging(tmp_path) as log:
        fanout, socket = log.fanout(heartbeat=0.01), Socket()
        fanout.start()
        async with watching(fanout, (socket, None)):
            await socket.until("still here\n\n: still here")
        fanout.close()
    assert socket.ids == []


async def test_closing_ends_every_viewer_at_once(tmp_path):
    async with logging(tmp_path) as log:
        sockets, fanout = [Socket() for _ in range(100)], log.fanout()
        fanout.start()
        async with watching(fanout, *((socket, None) for socket in sockets)) as tasks:
            await asyncio.gather(*(socket.until(": temper") for socket in sockets))
            fanout.close()
            async with asyncio.timeout(1):
                await asyncio.gather(*tasks)


async def test_a_rendering_that_breaks_ends_the_stream_instead_of_hanging_it(tmp_path, caplog):
    async with logging(tmp_path) as log:
        fanout, socket = log.fanout(), Socket()
        fanout._render = lambda _: 1 / 0
        fanout.start()
        async with watching(fanout, (socket, None)) as (task,):
            await socket.until(": temper")
            await log.say("poison")
            async with asyncio.timeout(5):
                await task
    assert "broke off" in caplog.text
    assert fanout.is_closed


async def test_one_viewer_whose_socket_breaks_leaves_the_others(tmp_path):
    class Broken(Socket):
        async def send(self, message):
            if b"one" in message.get("body", b""):
                raise OSError("gone")
            await super().send(message)

    async with logging(tmp_path) as log:
        fanout, broken, whole = log.fanout(), Broken(), Socket()
        fanout.start()
        async with watching(fanout, (broken, None), (whole, None)) as (first, _):
            await broken.until(": temper")
            await whole.until(": temper")
            await log.say("one")
            await whole.until("one")
            assert isinstance((await asyncio.gather(first, return_exceptions=True))[0], OSError)
        fanout.close()


def ring(**limits):
    made = FrameRing(**limits)
    for frame in (Frame(1, 3, b"abc"), Frame(4, 4, b"d"), Frame(5, 6, b"ef")):
        made.append(frame)
    return made


def test_what_follows_a_seq_is_joined():
    assert [ring().read_after(seq) for seq in (0, 3, 4, 6)] == [b"abcdef", b"def", b"ef", b""]


def test_a_seq_inside_a_frame_or_out_of_reach_is_not_answered():
    assert [ring().read_after(seq) for seq in (1, 5, 9)] == [None, None, None]


def test_it_forgets_the_oldest_by_count_and_by_size():
    assert [ring(frames=2).read_after(seq) for seq in (0, 3)] == [None, b"def"]
    assert [ring(size=3).read_after(seq) for seq in (0, 3)] == [None, b"def"]
