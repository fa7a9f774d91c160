"""A right that ends while an answer is still going out ends the answer too, wherever it was taken away."""

import asyncio
import time

import pytest
from sqlmodel import Session
from starlette.responses import StreamingResponse
from starlette.routing import Route, Router

from app.people.rights import Person, guests, operators, viewers
from app.store import issued_credentials
from app.store.db import open_and_migrate_database
from app.store.models import CredentialRow, PersonRow
from app.web.access.access_rechecks import AccessRechecks, RequestContext
from app.web.access.action_and_refusal_audit import AccessLedger, AuditSyslog
from app.web.access.authenticator import Authenticator
from app.web.access.request_gate import Gate
from app.web.access.right_check import guard_routes
from tests.postgres import new_database
from tests.web.access.conftest import scope


@pytest.fixture(params=["sqlite", "postgres"])
def database(request, tmp_path):
    place = (
        tmp_path / "t.sqlite" if request.param == "sqlite" else new_database(request.getfixturevalue("postgres_server"))
    )
    made = open_and_migrate_database(place)
    with Session(made) as session, session.begin():
        session.add(PersonRow(name="jo", right="operator", password="", made_at=0.0))
    yield made
    made.dispose()


class Watching:
    """One who follows a stream that sends something each time it is told to, and never ends."""

    def __init__(self, database, path, kind, run=""):
        self.more, self.told = asyncio.Queue(), []
        self.heard = asyncio.Condition()
        with Session(database) as session, session.begin():
            row, self.secret = issued_credentials.issue_credential(
                session, person="jo", right="operator", kind=kind, label="", run=run, seconds=3600.0
            )
            self.credential = row.id
        self._path, self._kind = path, kind
        self.task = None

    async def follow(self, gate):
        value = f"Bearer {self.secret}" if self._kind == "token" else f"temper-session={self.secret}"
        name = b"authorization" if self._kind == "token" else b"cookie"
        asked = scope("GET", self._path)
        asked["headers"].append((name, value.encode()))
        sent = False

        async def receive():
            nonlocal sent
            if sent:
                await asyncio.Event().wait()
            sent = True
            return {"type": "http.request", "body": b"", "more_body": False}

        self.task = asyncio.create_task(gate(asked, receive, self._hear))
        async with self.heard:
            await self.heard.wait_for(lambda: len(self.told) >= 2)

    async def _hear(self, message):
        async with self.heard:
            self.told.append(message)
            self.heard.notify_all()


@pytest.fixture
async def watch(database):
    """A gate as one node has it, and its rechecks as it looks."""
    watching = {}

    async def answer(request):
        async def pieces():
            yield b"first"
            while True:
                yield await watching[request.url.path].more.get()

        return StreamingResponse(pieces())

    viewing, operating, shared = (mark(_copy(answer)) for mark in (viewers, operators, guests))
    routes = [Route("/watch", viewing), Route("/operate", operating), Route("/runs/{run}/page", shared)]
    guard_routes(routes)
    authenticator = Authenticator(database, demo=False)
    rechecks = AccessRechecks(authenticator)
    gate = Gate(Router(routes), authenticator, AccessLedger(database, AuditSyslog("")), rechecks)

    async def begin(path, kind="token", run=""):
        one = watching[path] = Watching(database, path, kind, run)
        await one.follow(gate)
        rechecks.start()
        return one

    yield begin
    await rechecks.close()
    authenticator.close()


def _copy(answer):
    async def own(request):
        return await answer(request)

    return own


def change(database, model, key, **values):
    with Session(database) as session, session.begin():
        row = session.get(model, key)
        for name, value in values.items():
            setattr(row, name, value)


async def ended(one):
    """Within a second, and not a byte after."""
    begun = time.monotonic()
    await asyncio.wait_for(one.task, 5)
    took = time.monotonic() - begun
    assert one.told[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    assert [message["body"] for message in one.told[1:-1]] == [b"first"]
    return took


@pytest.mark.parametrize("kind", ["token", "session"])
async def test_it_ends_with_the_token_or_session(watch, database, kind):
    one = await watch("/watch", kind)
    change(database, CredentialRow, one.credential, ended_at=time.time())
    assert await ended(one) < 1


async def test_it_ends_with_a_share_link(watch, database):
    one = await watch("/runs/x/page", "link", "x")
    change(database, CredentialRow, one.credential, expires_at=time.time())
    await ended(one)


async def test_it_ends_with_the_person(watch, database):
    one = await watch("/watch")
    change(database, PersonRow, "jo", disabled=True)
    await ended(one)


async def test_it_ends_with_the_right_that_it_takes_and_not_with_a_higher_one(watch, database):
    operating, viewing = await watch("/operate"), await watch("/watch")
    change(database, PersonRow, "jo", right="viewer")
    await ended(operating)
    viewing.more.put_nowait(b"more")
    async with viewing.heard:
        await viewing.heard.wait_for(lambda: viewing.told[-1]["body"] == b"more")
    viewing.task.cancel()
    await asyncio.wait({viewing.task})


async def test_it_ends_although_a_recheck_before_failed(caplog):
    class Credentials:
        """They fail the first time, and then know nobody."""

        failed = False

        async def read_valid_people_by_credential(self, _):
            if not self.failed:
                self.failed = True
                raise ValueError("a fault of ours")
            return {}

    rechecks = AccessRechecks(Credentials())
    visit = RequestContext(Person("jo", "operator", "session", "c"), since=time.monotonic() - 10)
    with rechecks.track_request(visit):
        rechecks.start()
        await asyncio.wait_for(visit.over.wait(), 5)
    await rechecks.close()
    assert "rechecks failed with an internal error" in caplog.text
