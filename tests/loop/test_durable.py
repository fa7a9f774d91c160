"""The queue over a real DBOS: what it starts, and how it rests between runs."""

import asyncio
import threading

import pytest
from dbos import DBOS

from app.loop.durable import FIRST_SECONDS, POLL_SECONDS, QUEUE, Durable


@pytest.fixture
async def queue(tmp_path):
    """Each run that is driven is put into `driven`, and goes on until `go_on` is set."""
    driven: asyncio.Queue[str] = asyncio.Queue()
    go_on = asyncio.Event()

    async def drive(run: str, _epoch: int) -> None:
        driven.put_nowait(run)
        await go_on.wait()

    made = Durable(f"sqlite:///{tmp_path / 'queue.sqlite'}", "local", drive)
    await made.launch()
    yield made, driven, go_on
    await made.close()


def threads() -> list[str]:
    return [one.name for one in threading.enumerate() if "queue" in one.name or "dbos" in one.name]


async def test_who_rests_has_no_threads_and_a_run_that_is_asked_for_wakes_it(queue):
    durable, driven, go_on = queue
    go_on.set()
    assert threads()
    await durable.rest()
    assert (durable.awake, threads()) == (False, [])
    await durable.enqueue("r1", "web1")
    assert await driven.get() == "r1"
    assert durable.awake


async def asked_every() -> float:
    found = await asyncio.to_thread(DBOS.retrieve_queue, QUEUE)
    return found.polling_interval_sec


async def test_who_is_woken_looks_at_once_and_no_more_often_than_before_from_then_on(queue):
    durable, _, _ = queue
    assert await asked_every() == POLL_SECONDS
    await durable.rest()
    await durable.launch()
    assert await asked_every() == FIRST_SECONDS
    durable._awake_since -= POLL_SECONDS
    await durable.launch()
    assert await asked_every() == POLL_SECONDS


async def test_while_a_run_is_in_hand_it_does_not_rest(queue):
    durable, driven, go_on = queue
    await durable.enqueue("r1", "web1")
    await driven.get()
    await durable.rest()
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

    after = Durable(f"sqlite:///{tmp_path / 'queue.sqlite'}", "local", drive)
    await after.launch()
    assert await driven.get() == "r1"
    await after.close()


async def test_what_was_closed_is_not_woken_again(queue):
    durable, _, _ = queue
    await durable.close()
    await durable.launch()
    assert not durable.awake
