"""A send that is begun, and carried on only where it had to wait."""

import asyncio

import pytest

from app.web.stream.viewer_connection import start_send


async def test_a_send_that_does_not_wait_is_done_at_once():
    done = []

    async def send():
        done.append(1)

    assert start_send(send()) is None
    assert done == [1]


async def test_what_is_left_is_carried_on_by_who_awaits_it():
    room, steps = asyncio.Event(), []

    async def send():
        steps.append("begun")
        await room.wait()
        await asyncio.sleep(0)
        steps.append("done")

    rest = start_send(send())
    assert steps == ["begun"]
    room.set()
    await rest
    assert steps == ["begun", "done"]


async def test_cancelling_who_carries_it_on_unwinds_the_send():
    steps = []

    async def send():
        try:
            await asyncio.Event().wait()
        finally:
            steps.append("unwound")

    async def carry(rest):
        await rest

    task = asyncio.create_task(carry(start_send(send())))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert steps == ["unwound"]


async def test_a_failure_is_raised_where_the_rest_is_awaited():
    async def send():
        raise OSError("gone")

    rest = start_send(send())
    with pytest.raises(OSError, match="gone"):
        await rest
