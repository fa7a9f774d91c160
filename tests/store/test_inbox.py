"""Commands to runs, found by one look for all of them."""

import asyncio

import pytest
from sqlmodel import Session

from app.store.db import open_database
from app.store.inbox import Inboxes
from app.store.models import CommandRow


@pytest.fixture
def database(tmp_path):
    opened = open_database(tmp_path / "temper.sqlite")
    yield opened
    opened.dispose()


def ask(database, run, verb="pause"):
    with Session(database) as session, session.begin():
        session.add(CommandRow(run=run, verb=verb, by="ada", at=1.0))


async def test_a_look_wakes_who_is_asked_for_something_and_nobody_else(database):
    inboxes = Inboxes(database)
    with inboxes.opened("a") as one, inboxes.opened("b") as other:
        waits = [asyncio.create_task(inbox.pause()) for inbox in (one, other)]
        await inboxes.look()
        ask(database, "a")
        await inboxes.look()
        await waits[0]
        assert not waits[1].done()
        (command,) = await one.waiting()
        assert (command.verb, command.by) == ("pause", "ada")
        assert await other.waiting() == []
        waits[1].cancel()


async def test_what_is_not_closed_is_heard_again_and_what_is_closed_is_not(database):
    inboxes = Inboxes(database)
    ask(database, "a")
    with inboxes.opened("a") as inbox:
        for _ in range(2):
            await inboxes.look()
            await inbox.pause()
            (command,) = await inbox.waiting()
        await inbox.close(command)
        await inboxes.look()
        heard = asyncio.create_task(inbox.pause())
        await inboxes.look()
        assert not heard.done()
        ask(database, "a", "resume")
        await inboxes.look()
        await heard
        assert [one.verb for one in await inbox.waiting()] == ["resume"]


async def test_a_run_that_is_taken_up_again_hears_though_its_former_place_is_closed_late(database):
    inboxes = Inboxes(database)
    with inboxes.opened("a"):
        again = inboxes.opened("a")
        inbox = again.__enter__()
    ask(database, "a")
    await inboxes.look()
    await inbox.pause()
    again.__exit__(None, None, None)
