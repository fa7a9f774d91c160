"""However many look at once: each request holds one connection at most, and the log is written beside them all."""

import asyncio
from contextlib import suppress
from contextvars import ContextVar

from sqlalchemy import event
from sqlalchemy.exc import TimeoutError as AllInUse
from sqlmodel import Session

from app.events.log_writer import RunLog
from app.runs.order import Order, create_run_request
from app.store.db import open_separate_engine
from app.store.session_shared_within_request import (
    open_read_connection,
    open_read_session,
    share_session_within_request,
)
from tests.web.access.walk import filled
from tests.web.api.inside import finished

MINE: ContextVar[dict | None] = ContextVar("mine", default=None)
NOT_ASKED = ("/stream", "/page", "/replay", "/static", "/sign-in/oidc", "/share")
"""Streams hold none while they last; the others lead elsewhere."""


def counted(engine):
    def out(*_):
        if (mine := MINE.get()) is not None:
            mine["now"] += 1
            mine["most"] = max(mine["most"], mine["now"])

    def back(*_):
        if (mine := MINE.get()) is not None:
            mine["now"] -= 1

    event.listen(engine, "checkout", out)
    event.listen(engine, "checkin", back)


async def append(runtime):
    """The first event of a run that nobody is asked to work on."""
    asked = create_run_request(Order(mode="scan", by="ada"), runtime.lineup, runtime.settings.hosts_folder)
    RunLog("beside", runtime.writer).append(asked)
    await runtime.writer.flush()


async def test_every_page_and_every_answer_holds_one_connection_at_most(tmp_path):
    async with finished(tmp_path / "data") as (runtime, application, run, http):
        for engine in (runtime.database, application.state.reading):
            counted(engine)
        asked = 0
        for route in application.routes:
            path = filled(getattr(route, "path", "").replace("{run}", run).replace("{rule}", "V-257820"))
            if "GET" not in (getattr(route, "methods", None) or ()) or any(part in path for part in NOT_ASKED):
                continue
            mine = {"now": 0, "most": 0}
            MINE.set(mine)
            answer = await http.get(path, params={"left": run, "right": run} if path == "/compare" else None)
            assert answer.status_code < 500, (path, answer.text)
            assert mine["most"] <= 1, path
            assert mine["now"] == 0, path
            asked += mine["most"]
        assert asked > 30
        MINE.set(None)


async def test_sixty_that_load_the_page_at_once_all_get_it_and_the_log_is_written_meanwhile(tmp_path):
    async with finished(tmp_path / "data") as (runtime, _, run, http):
        loading = [asyncio.create_task(http.get(path)) for path in ("/", f"/runs/{run}", "/ops") for _ in range(20)]
        await append(runtime)
        answers = await asyncio.wait_for(asyncio.gather(*loading), 60)
        assert {answer.status_code for answer in answers} == {200}
        assert not runtime.writer.broken.is_set()


async def test_the_log_is_written_while_every_other_connection_is_in_use(tmp_path):
    async with finished(tmp_path / "data") as (runtime, *_):
        taken = []
        runtime.database.pool._timeout = 0.1
        with suppress(AllInUse):
            while True:
                taken.append(runtime.database.connect())
        await asyncio.wait_for(append(runtime), 10)
        assert not runtime.writer.broken.is_set()
        for one in taken:
            one.close()
        assert runtime.store.read_newest_seq("beside") == 1


async def test_what_a_request_asks_on_its_way_it_asks_by_the_connection_that_it_holds(tmp_path):
    async with finished(tmp_path / "data") as (runtime, *_):
        one = open_separate_engine(runtime.database, 1)
        with Session(one) as session:
            with share_session_within_request(session):
                mine = session.connection()
                with open_read_connection(one) as same, open_read_session(one) as again:
                    assert same is mine
                    assert again is session
            with open_read_session(runtime.database) as other:
                assert other is not session
        one.dispose()
