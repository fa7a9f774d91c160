"""The queue over a real DBOS: what it starts, and how it rests between runs."""

import asyncio
import logging
import threading

import pytest
from dbos import DBOS, error

from app.loop.durable_run_queue import FIRST_SECONDS, POLL_SECONDS, QUEUE, DurableQueue, is_worth_logging


@pytest.fixture
async def queue(tmp_path):
    """Each run that is driven is put into `driven`, and goes on until `go_on` is set."""
    driven: asyncio.Queue[str] = asyncio.Queue()
    go_on = asyncio.Event()

    async def drive(run: str, _epoch: int) -> None:
        driven.put_nowait(run)
        await go_on.wait()

    made = DurableQueue(f"sqlite:///{tmp_path / 'queue.sqlite'}", "local", drive)
    await made.launch()
    yield made, driven, go_on
    await made.close()


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if "queue" in one.name or "dbos" in one.name]


async def test_who_rests_has_no_threads_and_a_run_that_is_asked_for_wakes_it(queue):
    durable, driven, go_on = queue
    go_on.set()
    assert threads()
    await durable.suspend_if_idle()
    assert (durable.awake, threads()) == (False, [])
    assert durable.list_still_queued([("r1", 1)]) == []
    await durable.enqueue("r1", "web1")
    assert await driven.get() == "r1"
    assert durable.awake


async def asked_every() -> float:
    found = await asyncio.to_thread(DBOS.retrieve_queue, QUEUE)
    return found.polling_interval_sec


async def test_a_queue_that_starts_or_wakes_looks_at_once_and_less_often_from_then_on(queue):
    durable, _, _ = queue
    assert await asked_every() == FIRST_SECONDS
    for _ in range(2):
        durable._awake_since -= POLL_SECONDS
        await durable.launch()
        assert await asked_every() == POLL_SECONDS
        await durable.suspend_if_idle()
        await durable.launch()
        assert await asked_every() == FIRST_SECONDS


async def test_while_a_run_is_in_hand_it_does_not_rest(queue):
    durable, driven, go_on = queue
    await durable.enqueue("r1", "web1")
    await driven.get()
    await durable.suspend_if_idle()
    assert durable.awake
    assert durable.in_hand == {"r1"}
    go_on.set()


async def test_what_was_cut_off_is_taken_up_by_the_next_launch(tmp_path, queue):
    durable, driven, go_on = queue
    await durable.enqueue("r1", "web1")
    await driven.get()
    await durable.close()
    go_on.set()

    async def drive(run: str, _epoch: int) -> None:
        driven.put_nowait(run)

    after = DurableQueue(f"sqlite:///{tmp_path / 'queue.sqlite'}", "local", drive)
    await after.launch()
    assert await driven.get() == "r1"
    await after.close()


async def test_what_was_closed_is_not_woken_again(queue):
    """Not even where its queue was still to be asked less often."""
    durable, _, _ = queue
    durable._awake_since -= POLL_SECONDS
    await durable.close()
    await durable.launch()
    assert not durable.awake


async def test_a_run_that_is_handed_on_from_within_keeps_its_place_in_the_queue(tmp_path):
    """As by a node that cannot reach the run's host: what the queue gave it is taken back, and offered anew."""
    driven: asyncio.Queue[int | BaseException] = asyncio.Queue()

    async def drive(run: str, epoch: int) -> None:
        try:
            if epoch < 3:
                await asyncio.to_thread(made.offer_again_blocking, run, "web1", epoch + 1)
            driven.put_nowait(epoch)
        except BaseException as exc:
            driven.put_nowait(exc)
            raise

    made = DurableQueue(f"sqlite:///{tmp_path / 'queue.sqlite'}", "local", drive)
    await made.launch()
    await made.enqueue("r1", "web1")
    try:
        for epoch in (1, 2, 3):
            assert await driven.get() == epoch
    finally:
        await made.close()


async def test_what_nobody_was_given_yet_still_stands_in_the_queue(queue):
    durable, driven, _ = queue
    await durable.enqueue("r1", "web1")
    assert await driven.get() == "r1"
    await durable.enqueue("r2", "web1")
    offered = [("r1", 1), ("r2", 1), ("r2", 2), ("r3", 1)]
    assert await asyncio.to_thread(durable.list_still_queued, offered) == ["r2"], "its host's one place is taken"


@pytest.mark.parametrize(
    ("found", "worth"),
    [
        (error.DBOSWorkflowCancelledError("r1"), False),
        (error.DBOSAwaitedWorkflowCancelledError("r1"), False),
        (OSError(), True),
        (None, True),
    ],
)
def test_of_what_dbos_logs_the_cancelled_are_left_out(found, worth):
    told = (type(found), found, None) if found else None
    assert is_worth_logging(logging.makeLogRecord({"exc_info": told})) == worth
