"""Commands to runs, found by one look for all of them."""

import asyncio

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlmodel import Session

from app.store.db import open_and_migrate_database
from app.store.models import CommandRow
from app.store.run_command_inbox import InboxPoller


@pytest.fixture
def database(tmp_path):
    opened = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield opened
    opened.dispose()


def ask(database, run, verb="pause"):
    with Session(database) as session, session.begin():
        session.add(CommandRow(run=run, verb=verb, by="ada", at=1.0))


async def test_a_look_wakes_who_is_asked_for_something_and_nobody_else(database):
    inboxes = InboxPoller(database)
    with inboxes.open_inbox("a") as one, inboxes.open_inbox("b") as other:
        waits = [asyncio.create_task(inbox.wait_for_commands()) for inbox in (one, other)]
        await inboxes.wake_inboxes_with_commands()
        ask(database, "a")
        await inboxes.wake_inboxes_with_commands()
        await waits[0]
        assert not waits[1].done()
        (command,) = await one.list_open_commands()
        assert (command.verb, command.by) == ("pause", "ada")
        assert await other.list_open_commands() == []
        waits[1].cancel()


async def test_what_is_not_closed_is_heard_again_and_what_is_closed_is_not(database):
    inboxes = InboxPoller(database)
    ask(database, "a")
    with inboxes.open_inbox("a") as inbox:
        for _ in range(2):
            await inboxes.wake_inboxes_with_commands()
            await inbox.wait_for_commands()
            (command,) = await inbox.list_open_commands()
        await inbox.close(command)
        await inboxes.wake_inboxes_with_commands()
        heard = asyncio.create_task(inbox.wait_for_commands())
        await inboxes.wake_inboxes_with_commands()
        assert not heard.done()
        ask(database, "a", "resume")
        await inboxes.wake_inboxes_with_commands()
        await heard
        assert [one.verb for one in await inbox.list_open_commands()] == ["resume"]


async def test_a_run_that_is_taken_up_again_hears_though_its_former_place_is_closed_late(database):
    inboxes = InboxPoller(database)
    with inboxes.open_inbox("a"):
        again = inboxes.open_inbox("a")
        inbox = again.__enter__()
    ask(database, "a")
    await inboxes.wake_inboxes_with_commands()
    await inbox.wait_for_commands()
    again.__exit__(None, None, None)


async def test_while_no_run_is_open_nothing_is_looked_for(database, monkeypatch):
    monkeypatch.setattr(InboxPoller, "every", 0.001)
    poller = InboxPoller(database)
    waits = asyncio.create_task(poller._wait_for_next())
    await asyncio.wait({waits}, timeout=0.05)
    assert not waits.done()
    with poller.open_inbox("a"):
        await asyncio.wait_for(waits, 5)
        await asyncio.wait_for(poller._wait_for_next(), 5)
        monkeypatch.setattr(InboxPoller, "every", 60.0)
        waits = asyncio.create_task(poller._wait_for_next())
        await asyncio.wait({waits}, timeout=0.05)
        assert waits.cancel(), "with one open, too, there is a time between two looks"


async def test_a_command_that_could_not_be_closed_is_not_obeyed_again(database):
    """A pause that is read again after a resume would pause the run again."""
    inboxes = InboxPoller(database)
    ask(database, "a")
    with inboxes.open_inbox("a") as inbox:
        (command,) = await inbox.list_open_commands()

        def refuse_update(_connection, _cursor, statement, *_):
            if statement.startswith("UPDATE"):
                raise OperationalError(statement, (), Exception("away"))

        event.listen(database, "before_cursor_execute", refuse_update)
        await inbox.close(command)
        assert await inbox.list_open_commands() == []
        event.remove(database, "before_cursor_execute", refuse_update)
        ask(database, "a", "resume")
        assert [one.verb for one in await inbox.list_open_commands()] == ["resume"]
        with Session(database) as session:
            assert session.get_one(CommandRow, command.id).taken_at is not None
