import asyncio

import pytest

from app.errors import EnvironmentUnusable, LeaseLost
from app.events.bus import Bus
from app.events.kinds import RunPaused
from app.events.log_writer import LogWriter, RunLog
from app.events.record import check_chain_and_get_head


class Memory:
    def __init__(self):
        self.batches = []
        self.lost = frozenset()

    def append(self, batch):
        kept = [one for one in batch if one.run not in self.lost]
        if kept:
            self.batches.append(kept)
        return self.lost

    def give_up(self):
        pass


class FullDisk:
    def append(self, batch):
        raise OSError("no space left on device")

    def give_up(self):
        pass


@pytest.fixture
async def written():
    sink, bus = Memory(), Bus()
    writer = LogWriter(sink, bus)
    writer.start()
    yield sink, bus, writer
    await writer.close()


async def test_events_arrive_in_order_and_chained(written):
    sink, _, writer = written
    log = RunLog("r", writer)
    for number in range(50):
        log.append(RunPaused(by=str(number)))
    await log.flush()
    rows = [(one.seq, one.line, one.hash) for batch in sink.batches for one in batch]
    assert len(rows) == 50
    assert check_chain_and_get_head(rows) == rows[-1][2]


async def test_events_of_one_append_share_a_batch(written):
    sink, _, writer = written
    log = RunLog("r", writer)
    log.append(RunPaused(by="a"), RunPaused(by="b"))
    await log.flush()
    assert [len(batch) for batch in sink.batches] == [2]


async def test_the_bus_wakes_a_follower_only_after_the_write(written):
    sink, bus, writer = written
    waiting = asyncio.create_task(bus.wait_for_event_after("r", 0))
    await asyncio.sleep(0)
    RunLog("r", writer).append(RunPaused(by="a"))
    assert not waiting.done()
    await waiting
    assert bus.newest["r"] == 1
    assert sink.batches


async def test_a_log_goes_on_after_the_last_seq_and_hash(written):
    sink, _, writer = written
    first = RunLog("r", writer)
    last = first.append(RunPaused(by="a"))[-1]
    RunLog("r", writer, (last.seq, last.hash)).append(RunPaused(by="b"))
    await writer.flush()
    rows = [(one.seq, one.line, one.hash) for batch in sink.batches for one in batch]
    assert [seq for seq, _, _ in rows] == [1, 2]
    check_chain_and_get_head(rows)


async def test_who_writes_of_a_run_that_another_took_is_stopped_and_the_other_runs_go_on(written):
    sink, bus, writer = written
    mine, theirs = RunLog("mine", writer), RunLog("theirs", writer)
    sink.lost = frozenset({"theirs"})
    theirs.append(RunPaused(by="a"))
    mine.append(RunPaused(by="b"))
    with pytest.raises(LeaseLost):
        await theirs.flush()
    with pytest.raises(LeaseLost):
        theirs.append(RunPaused(by="c"))
    mine.append(RunPaused(by="d"))
    await mine.flush()
    assert [one.event.by for batch in sink.batches for one in batch] == ["b", "d"]
    assert bus.newest == {"mine": 2}


async def test_what_another_process_wrote_wakes_a_follower_and_old_news_does_not():
    bus = Bus()
    bus.notify_external("r", 3)
    await bus.wait_for_event_after("r", 2)
    waiting = asyncio.create_task(bus.wait_for_event_after("r", 3))
    await asyncio.sleep(0)
    bus.notify_external("r", 3)
    bus.notify_external("r", 1)
    await asyncio.sleep(0)
    assert not waiting.done()
    bus.notify_external("r", 4)
    await waiting


async def test_a_failed_write_fails_whoever_waits_and_whoever_comes_later():
    writer = LogWriter(FullDisk(), Bus())
    writer.start()
    log = RunLog("r", writer)
    log.append(RunPaused(by="a"))
    with pytest.raises(EnvironmentUnusable, match="no space left"):
        await log.flush()
    with pytest.raises(EnvironmentUnusable, match="no space left"):
        log.append(RunPaused(by="b"))
