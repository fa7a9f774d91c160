"""Every request passes here: host name, person, right, origin. What it changed goes on record."""

import asyncio
import ipaddress
import logging
import time
from urllib.parse import quote

from sqlalchemy import Engine
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.access.doors import Doors
from app.access.herald import Herald
from app.api.problem import Problem
from app.events.clean import clean
from app.events.kinds import PersonDid
from app.pages.refused import refusal
from app.people.rights import READING, WHO, Person, may, needed
from app.store import audit
from app.store.db import AWAY, why

log = logging.getLogger(__name__)

PATIENCE, BETWEEN = 60.0, 0.5
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Gate:
    def __init__(self, app: ASGIApp, doors: Doors, database: Engine, herald: Herald) -> None:
        self._app, self._doors, self._database, self._herald = app, doors, database, herald

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        person = await asyncio.to_thread(self._doors.person, headers)
        WHO.set(person)
        answer = self._refusal(scope, headers, person)
        status = 0

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await (answer or self._app)(scope, receive, noting)
        finally:
            if answer is not None or scope["method"] not in READING:
                await self._noted(_done(scope, person, status))

    async def _noted(self, event: PersonDid) -> None:
        """A database that is full, locked or away is waited for; what cannot be noted then is at least said."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                return await asyncio.to_thread(self._note, event)
            except AWAY as exc:
                if time.monotonic() > until:
                    return log.warning("not on record, since %s: %s by %r", why(exc), event.did, event.who)
            await asyncio.sleep(BETWEEN)

    def _note(self, event: PersonDid) -> None:
        self._herald.tell(audit.note(self._database, event))

    def _refusal(self, scope: Scope, headers: Headers, person: Person | None) -> Response | None:
        if self._doors.demo and not _is_loopback_name(headers.get("host", "")):
            said = "Temper answers to localhost here. To reach it by another name, start it with --host and --sign-in."
            return _refused(headers, Problem("wrong-host", said))
        if scope["method"] not in READING and not _from_here(scope, headers):
            return _refused(
                headers, Problem("cross-site", "Another site sent this: open the page here, and do it again.")
            )
        right = needed(scope["method"], scope["path"])
        if right is None:
            return None
        if person is None:
            return _who_are_you(scope, headers)
        if not may(person.right, right):
            said = f"This is for an {right}, and {person.name} is a {person.right}: ask an admin."
            return _refused(headers, Problem("forbidden", said))
        return None


def _who_are_you(scope: Scope, headers: Headers) -> Response:
    browsing = scope["method"] == "GET" and "text/html" in headers.get("accept", "")
    if browsing and not scope["path"].startswith("/api/"):
        return RedirectResponse(f"/sign-in?next={quote(scope['path'], safe='/')}", status_code=303)
    said = "Sign in, or send a token: Authorization: Bearer temper_…"
    return Problem("unauthorized", said, headers={"www-authenticate": "Bearer"}).response()


def _refused(headers: Headers, problem: Problem) -> Response:
    if "text/html" in headers.get("accept", ""):
        return refusal(str(problem), problem.body.status)
    return problem.response()


def _from_here(scope: Scope, headers: Headers) -> bool:
    """A browser says where a request comes from; what says nothing is no browser, and brings no cookie by itself."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"{scope['scheme']}://{headers.get('host')}"


def _is_loopback_name(host: str) -> bool:
    """Not what a name server of somebody else's may point here."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.lower() in LOOPBACK_NAMES or _is_loopback_address(name)


def _is_loopback_address(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _done(scope: Scope, person: Person | None, status: int) -> PersonDid:
    source = HTTPConnection(scope).client
    return PersonDid(
        who=person.name if person else "",
        right=person.right if person else "",
        via=person.via if person else "",
        source=source.host if source else "",
        did=clean(f"{scope['method']} {scope['path']}", 300),
        status=status,
    )
