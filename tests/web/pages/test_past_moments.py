"""Past moments have a thread of their own: nobody who looks at the present waits for them."""

import asyncio
import itertools
import threading
import time

import pytest
from fastapi import HTTPException
from starlette.responses import Response

from app.events.event_field_types import Budget
from app.events.kinds import RunFinished, RunQueued, RunStarted
from app.people.rights import WHO, Person
from app.web.pages.mission.past_view_thread_and_cache import KEPT, WAITING
from tests.runs.doors import house

QUEUED = RunQueued(
    host="fixture", skill="stig", rules=("V-258227",), mode="auto", budget=Budget(), lineup="simulated", simulated=True
)
STARTED = RunStarted(worker="w", confinement="", scanner="s", probes=())
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
WORK = 0.05


@pytest.fixture
async def doors(tmp_path):
    async with house(tmp_path / "data") as made:
        made.append("r1", QUEUED, STARTED)
        yield made
        made.application.state.moments.close()


@pytest.fixture
def moments(doors):
    return doors.application.state.moments


class Held:
    """A moment that takes as long as the test wants."""

    def __init__(self, moments):
        self.begun, self.let_go = threading.Event(), threading.Event()
        self.task = asyncio.ensure_future(moments.answer(self.build))

    def build(self, _session):
        self.begun.set()
        self.let_go.wait(60)
        return Response()

    async def end(self):
        self.let_go.set()
        await self.task


async def test_the_present_is_shown_while_a_moment_is_being_built(doors, moments):
    held = Held(moments)
    await asyncio.to_thread(held.begun.wait, 60)
    later = [
        asyncio.ensure_future(doors.http.get(path))
        for path in ("/runs/r1?at=1", "/runs/r1?t=0", "/runs/r1?w=0", "/runs/r1/moment?at=1")
    ]
    for path in ("/runs/r1", "/", "/runs", "/api/v1/runs/r1"):
        assert (await doors.http.get(path)).status_code == 200
    assert not any(one.done() for one in later)
    await held.end()
    assert [one.status_code for one in await asyncio.gather(*later)] == [200] * 4


async def test_many_waiting_moments_take_no_connection_from_the_present(doors, moments):
    held = Held(moments)
    later = [asyncio.ensure_future(doors.http.get("/runs/r1?at=1")) for _ in range(40)]
    assert (await doors.http.get("/runs/r1")).status_code == 200
    await held.end()
    assert {one.status_code for one in await asyncio.gather(*later)} == {200}


async def test_who_comes_when_too_many_wait_is_told_to_come_again(doors, moments):
    held = Held(moments)
    waiting = [asyncio.ensure_future(moments.answer(lambda _: Response())) for _ in range(WAITING - 1)]
    await asyncio.to_thread(held.begun.wait, 60)
    with pytest.raises(HTTPException, match="503"):
        await moments.answer(lambda _: Response())
    answer = await doors.http.get("/runs/r1?at=1")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    await held.end()
    await asyncio.gather(*waiting)
    assert (await doors.http.get("/runs/r1?at=1")).status_code == 200


async def test_after_each_moment_it_rests_as_long_as_that_took(moments):
    spans = []

    def work(_session):
        began = time.monotonic()
        while time.monotonic() - began < WORK:
            pass
        spans.append((began, time.monotonic()))
        return Response()

    await asyncio.gather(*(moments.answer(work) for _ in range(3)))
    for (began, ended), (next_began, _) in itertools.pairwise(spans):
        assert next_began - ended >= (ended - began) * 0.9


async def test_a_moment_is_built_once_for_those_who_see_the_same(doors, moments):
    built = []

    def count(view):
        return lambda: built.append(view) or view

    def look(key, view):
        return moments.answer(lambda _: Response(str(moments.get_or_build_view_on_calling_thread(key, count(view)))))

    assert [(await look(key, view)).body for key, view in (("a", 1), ("a", 2), ("b", 3))] == [b"1", b"1", b"3"]
    for number in range(KEPT):
        await look(number, number)
    await look("a", 4)
    assert built == [1, 3, *range(KEPT), 4]


async def test_what_is_kept_follows_the_log_and_the_row_and_who_looks(doors, moments):
    for _ in range(2):
        await doors.http.get("/runs/r1?at=1")
    doors.append("r1", ENDED)
    await doors.http.get("/runs/r1?at=1")
    await doors.http.post("/runs/r1/label", data={"name": "of an afternoon", "tags": ""})
    assert "of an afternoon" in (await doors.http.get("/runs/r1?at=1")).text
    assert [(key[3], view.last) for key, (_, view) in moments._kept.items()] == [
        (("admin", None), 2),
        (("admin", None), 3),
        (("admin", None), 3),
    ]


async def test_it_is_built_for_the_person_who_asks(moments):
    WHO.set(Person("ada", "viewer", "session"))
    assert (await moments.answer(lambda _: Response(WHO.get().name))).body == b"ada"


async def test_the_moment_before_the_first_event_links_to_no_run_without_a_name(doors):
    page = (await doors.http.get("/runs/r1?at=0")).text
    assert 'href="/runs/"' not in page
    assert 'href="/runs/r1"' in (await doors.http.get("/runs/r1?at=1")).text
