import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from copy import copy

import httpx
import pytest
from sqlmodel import Session
from starlette.responses import Response
from starlette.routing import Match, Router

from app.people.passwords import hash_password
from app.store import issued_credentials
from app.store.db import open_and_migrate_database
from app.store.models import PersonRow
from app.web.access.access_rechecks import AccessRechecks
from app.web.access.action_and_refusal_audit import AccessLedger, AuditSyslog
from app.web.access.authenticator import COOKIE, Authenticator
from app.web.access.request_gate import Gate
from app.web.access.right_check import Guard
from tests.web.access.walk import addresses, name

HOUR = 3600.0
NAMED = "x"
"""The run that the links of these tests name."""


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """Three people, each with a token and a session of their own right."""
    made = open_and_migrate_database(tmp_path_factory.mktemp("door") / "temper.sqlite")
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def secrets(database):
    found = {}
    with Session(database) as session, session.begin():
        for right in ("viewer", "operator", "admin"):
            session.add(
                PersonRow(name=f"the-{right}", right=right, password=hash_password("a" * 12), made_at=time.time())
            )
            session.flush()
            for kind in ("token", "session", "link"):
                run = NAMED if kind == "link" else ""
                _, secret = issued_credentials.issue_credential(
                    session, person=f"the-{right}", right=right, kind=kind, label="", run=run, seconds=HOUR
                )
                found[right, kind] = secret
    return found


@pytest.fixture(scope="session")
def served(tmp_path_factory):
    """The application's own routes, to be read."""
    with ThreadPoolExecutor(1) as apart:  # a loop of its own
        return apart.submit(asyncio.run, addresses(tmp_path_factory.mktemp("served") / "data")).result()


@pytest.fixture
def routes(served):
    """Each with its guard; behind the guard it only says which one it is."""
    return [_told(route) for route in served]


def _told(route):
    told = copy(route)
    told.app = Guard(_saying(route), route.app.needs)
    return told


def _saying(route):
    async def answer(scope, receive, send):
        await Response(status_code=204, headers={"served": name(route)})(scope, receive, send)

    return answer


@pytest.fixture
def knock(database, secrets, routes):
    """Ask the gate and the guards alone: behind them everything answers 204 and does nothing."""
    served = Router(routes=routes)

    async def ask(method, path, right=None, kind="token", *, demo=False, client="192.0.2.7", **headers):
        authenticator = Authenticator(database, demo=demo)
        gate = Gate(served, authenticator, AccessLedger(database, AuditSyslog("")), AccessRechecks(authenticator))
        if right:
            secret = secrets[right, kind]
            headers |= {"authorization": f"Bearer {secret}"} if kind == "token" else {"cookie": f"{COOKIE}={secret}"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(gate, client=(client, 4000))
        async with httpx.AsyncClient(transport=transport, base_url="http://temper.example") as http:
            answer = await http.request(method, path, headers=named)
        authenticator.close()
        return answer

    return ask


@pytest.fixture
def knock_raw(routes):
    """The same with a path as the server decodes it, by somebody who is known at once, and nothing goes on record."""

    class Door:
        demo = False

        async def authenticate(self, headers):
            return self.comer

    class Ledger:
        async def count_or_record_refusal(self, event):
            return None

        record_action_or_warn = count_or_record_refusal

    served, door = Routed(routes), Door()
    gate = Gate(served, door, Ledger(), AccessRechecks(door))

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def ask(method, path, comer):
        door.comer = comer
        told = []

        async def send(message):
            told.append(message)

        await gate(scope(method, path), receive, send)
        served = dict(told[0]["headers"]).get(b"served", b"").decode()
        return told[0]["status"], served

    return ask


class Routed:
    """All the routes. Which of them an address may mean is sought once, and not anew for each who asks for it."""

    def __init__(self, routes):
        self._routes, self._found = routes, {}

    async def __call__(self, scope, receive, send):
        kind, method, path = scope["type"], scope["method"], scope["path"]
        if (kind, method, path) not in self._found:
            also = path.rstrip("/") if path.endswith("/") else f"{path}/"  # whoever is not found is sent there
            spelled = [{**scope, "path": one} for one in (path, also)]
            meant = [one for one in self._routes if any(one.matches(each)[0] != Match.NONE for each in spelled)]
            self._found[kind, method, path] = Router(routes=meant)
        await self._found[kind, method, path](scope, receive, send)


def scope(method, path):
    return {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "headers": [(b"host", b"temper.example")],
        "scheme": "http",
        "server": ("temper.example", 80),
        "client": ("192.0.2.7", 4000),
        "root_path": "",
        "http_version": "1.1",
    }
