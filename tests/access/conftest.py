import time

import httpx
import pytest
from sqlmodel import Session
from starlette.responses import Response

from app.access.doors import COOKIE, Doors
from app.access.gate import Gate
from app.access.herald import Herald
from app.people.passwords import hashed
from app.store import people
from app.store.db import open_database
from app.store.models import PersonRow

HOUR = 3600.0


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    """Three people, each with a token and a session of their own right."""
    made = open_database(tmp_path_factory.mktemp("door") / "temper.sqlite")
    yield made
    made.dispose()


@pytest.fixture(scope="module")
def secrets(database):
    found = {}
    with Session(database) as session, session.begin():
        for right in ("viewer", "operator", "admin"):
            session.add(PersonRow(name=f"the-{right}", right=right, password=hashed("a" * 12), made_at=time.time()))
            session.flush()
            for kind in ("token", "session", "link"):
                _, secret = people.issue(session, person=f"the-{right}", right=right, kind=kind, label="", seconds=HOUR)
                found[right, kind] = secret
    return found


@pytest.fixture
def knock(database, secrets):
    """Ask the gate alone: behind it everything answers 204 and does nothing."""

    async def ask(method, path, right=None, kind="token", *, demo=False, **headers):
        async def inside(scope, receive, send):
            await Response(status_code=204)(scope, receive, send)

        gate = Gate(inside, Doors(database, demo=demo), database, Herald(""))
        if right:
            secret = secrets[right, kind]
            headers |= {"authorization": f"Bearer {secret}"} if kind == "token" else {"cookie": f"{COOKIE}={secret}"}
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        transport = httpx.ASGITransport(gate, client=("192.0.2.7", 4000))
        async with httpx.AsyncClient(transport=transport, base_url="http://temper.example") as http:
            return await http.request(method, path, headers=named)

    return ask
