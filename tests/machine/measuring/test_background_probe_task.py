"""One probe at a time, in the background."""

import asyncio

import httpx
import pytest

from app.errors import BadInput
from app.machine.measuring.background_probe_task import ProbeRunner
from app.machine.measuring.probe import EngineBusy
from tests.machine.measuring.playing import Wire, subject


async def test_it_works_in_the_background_one_at_a_time_and_keeps_what_it_finds():
    kept, finished = [], asyncio.Event()
    loop = asyncio.get_running_loop()

    def keep(probed):
        kept.append(probed)
        loop.call_soon_threadsafe(finished.set)

    prober = ProbeRunner(keep)
    async with httpx.AsyncClient(transport=httpx.MockTransport(Wire())) as http:
        prober.start([subject(http)])
        assert prober.is_working
        with pytest.raises(EngineBusy, match="A probe is under way"):
            prober.start([subject(http)])
        await asyncio.wait_for(finished.wait(), 20)
        await prober.wait_until_finished()
    assert ([one.engine for one in kept], prober.is_working, prober.ended) == (["gemma-31b"], False, "")


async def test_a_probe_that_cannot_be_made_says_why_and_the_next_subject_has_its_turn():
    kept = []
    prober = ProbeRunner(kept.append)
    transport, other = httpx.MockTransport(Wire(running=1)), httpx.MockTransport(Wire())
    async with httpx.AsyncClient(transport=transport) as busy, httpx.AsyncClient(transport=other) as free:
        prober.start([subject(busy), subject(free)])
        await prober.wait_until_finished()
    assert "probe it when it is idle" in prober.ended
    assert len(kept) == 1


async def test_the_first_reason_stays_when_a_later_probe_fails_too():
    def keep(_):
        raise BadInput("the second reason")

    prober = ProbeRunner(keep)
    transport, other = httpx.MockTransport(Wire(running=1)), httpx.MockTransport(Wire())
    async with httpx.AsyncClient(transport=transport) as busy, httpx.AsyncClient(transport=other) as free:
        prober.start([subject(busy), subject(free)])
        await prober.wait_until_finished()
    assert "probe it when it is idle" in prober.ended


async def test_closing_ends_it():
    async def silent(_):
        await asyncio.Event().wait()

    prober = ProbeRunner(lambda _: None)
    async with httpx.AsyncClient(transport=httpx.MockTransport(silent)) as http:
        prober.start([subject(http)])
        await prober.close()
    assert not prober.is_working
