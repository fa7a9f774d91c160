"""Receivers that a webhook meets: one that never comes to the end of its answer, one that leads elsewhere."""

import asyncio
import json
import time
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime

import pytest
from sqlmodel import Session

from app.background.webhooks.delivery_body_and_signature import create_webhook_secret
from app.background.webhooks.sender import CHUNK, WebhookSender
from app.events.bus import Bus
from app.events.event_field_types import Budget
from app.events.kinds import RunFinished, RunPaused, RunQueued
from app.events.log_writer import LogWriter, RunLog
from app.events.record import build_recorded_event
from app.store import webhooks
from app.store.change_monitor import ChangeMonitor
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.waivers import WaiverRow
from app.store.webhooks import WebhookRow

QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(), mode="auto", budget=Budget(), lineup="simulated", simulated=True
)
NOW = 1_790_000_000.0


class Place:
    """A database with one run and one webhook, and who delivers to it."""

    def __init__(self, folder):
        self.database = open_and_migrate_database(folder / "temper.sqlite")

    @asynccontextmanager
    async def told(self, url, *, local=True):
        store, bus, changes = EventStore(self.database), Bus(), ChangeMonitor(self.database)
        sender = WebhookSender(self.database, store, bus, version=changes.version, patience=0.4)
        sender.start()
        await asyncio.to_thread(self._added, url, local)
        writer = LogWriter(store, bus)
        writer.start()
        log = RunLog("aaaa", writer, clock=lambda: NOW + 1)
        log.append(QUEUED)
        await log.flush()
        yield
        await sender.close()
        changes.close()
        await writer.close()

    @asynccontextmanager
    async def sending_again(self, url, count, clock=time.time):
        """A run of long ago, with so many events, is asked for by a person, of a webhook that failed the last time."""
        store, changes = EventStore(self.database), ChangeMonitor(self.database)
        ended = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")
        events = [QUEUED, *[RunPaused(by="ada")] * (count - 2), ended]
        store.append([build_recorded_event("old", seq, 1.0, event, "x") for seq, event in enumerate(events, 1)])
        self._added(url, local=True)
        with Session(self.database) as session, session.begin():
            session.get_one(WebhookRow, "w").problem = "it answered 500"
        self.ask_again()
        sender = WebhookSender(self.database, store, Bus(), version=changes.version, clock=clock)
        sender.start()
        try:
            yield
        finally:
            await sender.close()
            changes.close()

    def ask_again(self):
        with Session(self.database) as session, session.begin():
            webhooks.request_redelivery_from_first_event(session, "w", "old")

    def owes_again(self):
        with Session(self.database) as session:
            return webhooks.list_runs_to_redeliver(session, "w")

    def _added(self, url, local):
        with Session(self.database) as session, session.begin():
            webhooks.add_webhook(
                session,
                WebhookRow(
                    id="w", url=url, secret=create_webhook_secret(b"x" * 32), kinds="", created_at=NOW, local=local
                ),
            )

    def come(self, run):
        """How far."""
        with Session(self.database) as session:
            return webhooks.get_or_build_progress(session, "w", run).seq

    def problem(self):
        with Session(self.database) as session:
            return session.get_one(WebhookRow, "w").problem


@pytest.fixture
def place(tmp_path):
    place = Place(tmp_path)
    yield place
    place.database.dispose()


@asynccontextmanager
async def answering(answer):
    """Counts who comes: the second time is after the first was given up."""
    calls, twice = [], asyncio.Event()

    async def serve(reader, writer):
        calls.append(await reader.readuntil(b"\r\n"))
        if len(calls) > 1:
            twice.set()
        try:
            await answer(writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", calls, twice


async def drip(writer):
    writer.write(b"HTTP/1.1 204 No Content\r\n")
    while True:
        writer.write(b"x-more: 1\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def redirect(writer):
    writer.write(b"HTTP/1.1 307 There\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n")
    await writer.drain()


@pytest.mark.timeout(20)
async def test_who_never_comes_to_an_end_is_given_up_in_time(place):
    async with answering(drip) as (url, _, twice), place.told(f"{url}/hook"):
        await twice.wait()
        assert place.problem() == "it did not answer within 0.4 s"


@pytest.mark.timeout(20)
async def test_a_waiver_that_ends_soon_is_told_once_and_signed(place):
    now = time.time()
    day = datetime.fromtimestamp(now + 3 * 24 * 3600, UTC).date().isoformat()
    words = {"scope_kind": "all", "scope_name": "", "owner": "Ops lead", "reason": "why", "ticket": "", "by": "ada"}
    with Session(place.database) as session, session.begin():
        session.add(WaiverRow(id="w1", rule="V-257985", until=day, made_at=now, **words))
    letters, both = [], asyncio.Event()

    async def serve(reader, writer):
        while True:
            try:
                head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            except asyncio.IncompleteReadError:
                break
            length = int(head.partition("content-length: ")[2].split()[0])
            letters.append((head, json.loads(await reader.readexactly(length))))
            if len(letters) == 2:
                both.set()
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    async with server, place.told(url):
        await both.wait()
        while not await asyncio.to_thread(place.come, "waiver.ending:w1"):
            pass
    told = {said["type"]: (head, said) for head, said in letters}
    head, said = told["temper.waiver.ending"]
    assert len(letters) == 2, "the run's event, and this"
    assert "webhook-signature: v1," in head
    assert (said["id"], said["source"]) == ("waiver.ending:w1", "/api/v1/waivers/w1")
    assert said["data"]["waiver"]["owner"] == "Ops lead"


@pytest.mark.timeout(20)
async def test_a_redirect_is_a_problem_that_is_logged_and_is_not_followed(place, caplog):
    async with answering(redirect) as (url, calls, twice), place.told(f"{url}/hook"):
        await twice.wait()
        assert place.problem() == "it answered 307"
    told = next(one for one in caplog.records if one.getMessage() == "webhook delivery failed")
    assert (told.webhook, told.run, told.problem, told.attempts, told.again_in_s) == (
        "w",
        "aaaa",
        "it answered 307",
        1,
        1,
    )
    assert "/hook" not in str(vars(told))
    assert set(calls) == {b"POST /hook HTTP/1.1\r\n"}


@asynccontextmanager
async def taking(meanwhile=lambda letters: None):
    """Takes every letter; what happens `meanwhile` happens before the sender hears so."""
    letters = []

    async def serve(reader, writer):
        with suppress(asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            letters.append(json.loads(await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))))
            await asyncio.to_thread(meanwhile, letters)
            writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook", letters


def at_work():
    return any(task.get_name() == "webhook w" for task in asyncio.all_tasks())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("count", [20, 2 * CHUNK, 2 * CHUNK + 20])
async def test_a_run_of_any_length_that_is_sent_again_is_sent_whole_and_then_owed_no_more(place, count):
    async with taking() as (url, letters), place.sending_again(url, count):
        while len(letters) < count or at_work() or await asyncio.to_thread(place.owes_again):
            await asyncio.to_thread(place.problem)
        assert [letter["id"] for letter in letters] == [f"old.{seq}" for seq in range(1, count + 1)]
        assert place.problem() == "", "of the newest delivery"


@pytest.mark.timeout(20)
async def test_a_run_that_is_sent_again_is_owed_after_a_failure_until_it_is_sent_whole(place):
    answers, now = [503, 204, 503, 204, 204], [NOW]

    async def serve(reader, writer):
        with suppress(asyncio.IncompleteReadError):
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            await reader.readexactly(int(head.partition("content-length: ")[2].split()[0]))
            writer.write(f"HTTP/1.1 {answers.pop(0)} X\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        async with place.sending_again(url, 3, clock=lambda: now[0]):
            for left in (4, 2):
                while len(answers) > left or at_work():
                    await asyncio.to_thread(place.problem)
                assert (len(answers), place.owes_again()) == (left, ["old"]), "it waits, and is not forgotten"
                now[0] += 2
            while answers or await asyncio.to_thread(place.owes_again):
                await asyncio.to_thread(place.problem)


@pytest.mark.timeout(20)
async def test_who_asks_once_more_while_the_last_letter_is_under_way_is_not_forgotten(place):
    def ask(letters):
        if len(letters) == 5:
            place.ask_again()

    async with taking(ask) as (url, letters), place.sending_again(url, 5):
        while len(letters) < 10:
            await asyncio.to_thread(place.problem)
        assert [letter["id"] for letter in letters] == [f"old.{seq}" for seq in range(1, 6)] * 2
