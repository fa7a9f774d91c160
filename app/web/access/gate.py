"""Gate for every request: check host name and origin, authenticate the person, record changes."""

import asyncio
import ipaddress
import time

from fastapi.exceptions import HTTPException
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.events.kinds import PersonDid
from app.people.rights import READING, WHO
from app.store.db import AWAY, why
from app.text.clean import clean
from app.web.access.access_ledger import AccessLedger
from app.web.access.body import OF_PEOPLE, OF_STRANGERS, bounded
from app.web.access.cors import may_write
from app.web.access.credentials import Credentials
from app.web.access.guard import turned_away
from app.web.access.rechecks import Rechecks
from app.web.access.visit import KEY, Visit
from app.web.api.problem import Problem
from app.web.api.route import PREFIX

STRANGERS_AT_ONCE = 4
"""Concurrent anonymous requests; requests of signed-in people do not queue behind them."""
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Gate:
    """Identifies the person. The guard of the matched route then checks their right."""

    def __init__(
        self,
        app: ASGIApp,
        credentials: Credentials,
        ledger: AccessLedger,
        rechecks: Rechecks,
        allowed: frozenset[str] = frozenset(),
    ) -> None:
        """`allowed`: origins of other sites that may use the API."""
        self._app, self._credentials, self._ledger, self._rechecks = app, credentials, ledger, rechecks
        self._allowed = allowed
        self._turns = asyncio.Semaphore(STRANGERS_AT_ONCE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        headers = Headers(scope=scope)
        try:
            person = await self._credentials.person(headers)
        except AWAY as exc:
            said = f"The database cannot be asked who you are: {why(exc)}. Try again in a moment."
            return await turned_away(headers, Problem("unavailable", said))(scope, receive, send)
        visit = scope[KEY] = Visit(person, time.monotonic())
        WHO.set(person)
        if person and (line := scope.get("state", {}).get("line")):
            line.known()
        with self._rechecks.over(visit):
            return await self._served(scope, headers, visit, receive, send)

    async def _served(self, scope: Scope, headers: Headers, visit: Visit, receive: Receive, send: Send) -> None:
        answer = self._refusal(scope, headers)
        turn = WaitingTurn(None if visit.person else self._turns)
        most = OF_PEOPLE if visit.person else OF_STRANGERS
        body = bounded(receive, most, headers.get("content-length"))
        answering = _Answering(visit, body, send, turn)
        try:
            if not visit.person:
                await answering.take_in()
            await turn.come()
            await (answer or self._app)(scope, answering.receive, answering.send)
            await answering.end()
        finally:
            turn.go()
            await self._noted(scope, visit, answering.status, refused=visit.refused or answer is not None)

    async def _noted(self, scope: Scope, visit: Visit, status: int, *, refused: bool) -> None:
        if refused or (visit.person is None and status >= 400 and scope["method"] not in READING):
            await self._ledger.refused(_done(scope, visit, status))
        elif scope["method"] not in READING:
            await self._ledger.did(_done(scope, visit, status))

    def _welcome(self, scope: Scope, headers: Headers) -> bool:
        if _from_here(scope, headers):
            return True
        return may_write(headers, scope["path"], self._allowed, demo=self._credentials.demo)

    def _refusal(self, scope: Scope, headers: Headers) -> Response | None:
        if self._credentials.demo and not _is_loopback_name(headers.get("host", "")):
            said = "Temper answers to localhost here. To reach it by another name, start it with --host and --sign-in."
            return turned_away(headers, Problem("wrong-host", said))
        if scope["method"] not in READING and not self._welcome(scope, headers):
            return turned_away(headers, Problem("cross-site", _elsewhere(headers)))
        if not _plain(scope["path"]):
            said = f"There is nothing at {scope['path'][:100]!a}: no name holds a NUL or another control character."
            return turned_away(headers, Problem("not-found", said))
        # The API's own check names the parameter.
        if b"%00" in scope["query_string"] and not scope["path"].startswith(PREFIX):
            return turned_away(headers, Problem("invalid", "The address holds a NUL: take it out.", field="query"))
        return None


class WaitingTurn:
    """One of the limited slots for anonymous requests. Released when the response starts: slow readers hold none."""

    def __init__(self, turns: asyncio.Semaphore | None) -> None:
        self._turns, self._mine = turns, False

    async def come(self) -> None:
        if self._turns:
            await self._turns.acquire()
            self._mine = True

    def go(self) -> None:
        if self._turns and self._mine:
            self._mine = False
            self._turns.release()


class _Answering:
    """Request and response messages of one request. Both stop when the person's right ends."""

    def __init__(self, visit: Visit, receive: Receive, send: Send, turn: WaitingTurn) -> None:
        self._visit, self._receive, self._send, self._turn = visit, receive, send, turn
        self._taken: list[Message] = []
        self._too_long: HTTPException | None = None
        self._heard_all = self._endless = False
        self._open = True
        self.status = 0

    async def take_in(self) -> None:
        """Read an anonymous body, which is short, before taking a slot: a slow client then delays nobody."""
        try:
            while not self._heard_all:
                self._taken.append(await self._next())
        except HTTPException as exc:
            self._too_long = exc

    async def receive(self) -> Message:
        if self._taken:
            return self._taken.pop(0)
        if self._too_long:
            raise self._too_long
        if self._heard_all:
            return await self._visit.hears(self._receive)
        return await self._next()

    async def _next(self) -> Message:
        message = await self._receive()
        self._heard_all = not message.get("more_body")
        return message

    async def send(self, message: Message) -> None:
        if self._visit.over.is_set():
            return
        if message["type"] == "http.response.start":
            self._turn.go()
            self.status = message["status"]
            self._endless = not any(name.lower() == b"content-length" for name, _ in message["headers"])
        elif not message.get("more_body"):
            self._open = False
        await self._send(message)

    async def end(self) -> None:
        """Finish a chunked response properly if it was cut off because the right ended."""
        if self._visit.over.is_set() and self.status and self._open and self._endless:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def _plain(path: str) -> bool:
    """Return False for control characters: Starlette patterns stop before a newline, and databases reject NUL."""
    return all(character >= " " and character != "\x7f" for character in path)


def _elsewhere(headers: Headers) -> str:
    said = "Another site sent this: open the page here, and do it again."
    if "x-forwarded-proto" in headers or "x-forwarded-for" in headers:
        return f"{said} Behind a proxy, name its address with --proxy: what it forwards is believed only then."
    return said


def _from_here(scope: Scope, headers: Headers) -> bool:
    """Return True for same-origin requests and for clients other than browsers, which send no Origin."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"{scope['scheme']}://{headers.get('host')}"


def _is_loopback_name(host: str) -> bool:
    """Return True for localhost and loopback addresses; other names could be pointed here by foreign DNS."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.lower() in LOOPBACK_NAMES or _is_loopback_address(name)


def _is_loopback_address(name: str) -> bool:
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _done(scope: Scope, visit: Visit, status: int) -> PersonDid:
    source, person = HTTPConnection(scope).client, visit.person
    return PersonDid(
        who=person.name if person else "",
        right=person.right if person else "",
        via=person.via if person else "",
        source=clean(source.host, 64) if source else "",
        did=clean(f"{scope['method']} {scope['path']}", 300),
        status=status,
    )
