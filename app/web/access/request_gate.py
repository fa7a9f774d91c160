"""Gate for every request: check host name and origin, authenticate the person, record changes."""

import asyncio
import ipaddress
import time
from contextlib import AsyncExitStack

from fastapi.exceptions import HTTPException
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.events.kinds import AuditedRequest
from app.people.rights import READING, WHO
from app.store.db import DATABASE_UNAVAILABLE, shorten_database_error
from app.text.clean import clean_text
from app.web.access.access_rechecks import KEY, AccessRechecks, RequestContext
from app.web.access.action_and_refusal_audit import AccessLedger
from app.web.access.authenticator import Authenticator
from app.web.access.cors import is_cross_origin_write_allowed_by_token_or_demo
from app.web.access.log_rate_limit import RequestLog, hide_secret_of_shared_link
from app.web.access.right_check import create_refusal_response
from app.web.api.api_route import PREFIX
from app.web.api.problem import Problem

STRANGERS_AT_ONCE = 4
"""Concurrent anonymous requests; requests of signed-in people do not queue behind them."""
ANONYMOUS_BODY_BYTES, SIGNED_IN_BODY_BYTES = 16 * 1024, 1024 * 1024
DIGITS = 18
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


class Gate:
    """Identifies the person. The guard of the matched route then checks their right."""

    def __init__(
        self,
        app: ASGIApp,
        credentials: Authenticator,
        ledger: AccessLedger,
        rechecks: AccessRechecks,
        allowed: frozenset[str] = frozenset(),
    ) -> None:
        """`allowed`: origins of other sites that may use the API."""
        self._app, self._credentials, self._ledger, self._rechecks = app, credentials, ledger, rechecks
        self._allowed = allowed
        self._turns = asyncio.Semaphore(STRANGERS_AT_ONCE)
        self._log = RequestLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await self._app(scope, receive, send)
        if scope["type"] != "http":
            return await send({"type": "websocket.close"})
        headers = Headers(scope=scope)
        try:
            person = await self._credentials.authenticate(headers)
        except DATABASE_UNAVAILABLE as exc:
            said = f"The database cannot check your sign-in: {shorten_database_error(exc)}. Try again in a moment."
            self._log.log_failed_answer(scope, None, 503)
            return await create_refusal_response(headers, Problem("unavailable", said))(scope, receive, send)
        visit = scope[KEY] = RequestContext(person, time.monotonic())
        WHO.set(person)
        if person and (line := scope.get("state", {}).get("line")):
            line.mark_signed_in()
        with self._rechecks.track_request(visit):
            return await self._serve_request(scope, headers, visit, receive, send)

    async def _serve_request(
        self, scope: Scope, headers: Headers, visit: RequestContext, receive: Receive, send: Send
    ) -> None:
        refusal = self._find_host_origin_or_address_refusal(scope, headers)
        answer = create_refusal_response(headers, refusal) if refusal else None
        scope.setdefault("state", {})["kind"] = refusal.kind if refusal else ""
        slot = AsyncExitStack()  # left when the response starts: slow readers hold none of the anonymous slots
        most = SIGNED_IN_BODY_BYTES if visit.person else ANONYMOUS_BODY_BYTES
        body = limit_body(receive, most, headers.get("content-length"))
        answering = _RequestChannel(visit, body, send, slot)
        try:
            if not visit.person:
                await answering.buffer_body()
                await slot.enter_async_context(self._turns)
            await (answer or self._app)(scope, answering.receive, answering.send)
            await answering.end_stream_if_cut_off()
        except Exception:
            self._log.log_failed_answer(scope, visit.person, answering.status or 500)
            raise
        else:
            self._log.log_failed_answer(scope, visit.person, answering.status)
        finally:
            await slot.aclose()
            await self._record_change_or_refusal(
                scope, visit, answering.status, refused=visit.refused or answer is not None
            )

    async def _record_change_or_refusal(
        self, scope: Scope, visit: RequestContext, status: int, *, refused: bool
    ) -> None:
        if refused or (visit.person is None and status >= 400 and scope["method"] not in READING):
            await self._ledger.count_or_record_refusal(_create_audit_event(scope, visit, status))
        elif scope["method"] not in READING:
            await self._ledger.record_action_or_warn(_create_audit_event(scope, visit, status))

    def _is_write_welcome(self, scope: Scope, headers: Headers) -> bool:
        if _is_same_origin_or_not_from_browser(scope, headers):
            return True
        return is_cross_origin_write_allowed_by_token_or_demo(
            headers, scope["path"], self._allowed, demo=self._credentials.demo
        )

    def _find_host_origin_or_address_refusal(self, scope: Scope, headers: Headers) -> Problem | None:
        if self._credentials.demo and not _is_loopback_name(headers.get("host", "")):
            said = (
                "Without sign-in, Temper answers only on localhost. To use another name, start it with "
                "--host and --sign-in."
            )
            return Problem("wrong-host", said)
        if scope["method"] not in READING and not self._is_write_welcome(scope, headers):
            return Problem("cross-site", _format_refusal_with_proxy_hint(headers))
        # Control characters: Starlette patterns stop before a newline, and databases reject NUL.
        if any(character < " " or character == "\x7f" for character in scope["path"]):
            said = f"Nothing found at {scope['path'][:100]!a}: an address cannot contain control characters."
            return Problem("not-found", said)
        # The API's own check names the parameter.
        if b"%00" in scope["query_string"] and not scope["path"].startswith(PREFIX):
            return Problem("invalid", "The address contains a NUL character: remove it.", field="query")
        return None


class _RequestChannel:
    """Request and response messages of one request. Both stop when the person's right ends."""

    def __init__(self, visit: RequestContext, receive: Receive, send: Send, slot: AsyncExitStack) -> None:
        self._visit, self._receive, self._send, self._slot = visit, receive, send, slot
        self._taken: list[Message] = []
        self._too_long: HTTPException | None = None
        self._heard_all = self._endless = False
        self._open = True
        self.status = 0

    async def buffer_body(self) -> None:
        """Read an anonymous body, which is short, before taking a slot: a slow client then delays nobody."""
        try:
            while not self._heard_all:
                self._taken.append(await self._receive_and_note_whether_last())
        except HTTPException as exc:
            self._too_long = exc

    async def receive(self) -> Message:
        if self._taken:
            return self._taken.pop(0)
        if self._too_long:
            raise self._too_long
        if self._heard_all:
            return await self._visit.receive_or_disconnect(self._receive)
        return await self._receive_and_note_whether_last()

    async def _receive_and_note_whether_last(self) -> Message:
        message = await self._receive()
        self._heard_all = not message.get("more_body")
        return message

    async def send(self, message: Message) -> None:
        if self._visit.over.is_set():
            return
        if message["type"] == "http.response.start":
            await self._slot.aclose()
            self.status = message["status"]
            self._endless = not any(name.lower() == b"content-length" for name, _ in message["headers"])
        elif not message.get("more_body"):
            self._open = False
        await self._send(message)

    async def end_stream_if_cut_off(self) -> None:
        """Finish a chunked response properly if it was cut off because the right ended."""
        if self._visit.over.is_set() and self.status and self._open and self._endless:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


def limit_body(receive: Receive, most: int, content_length_header: str | None) -> Receive:
    """Wrap `receive` to raise HTTP 413 beyond `most` bytes; at once if `content_length_header` is larger."""
    length = content_length_header or "0"
    taken = most + 1 if len(length) > DIGITS or int(length) > most else 0

    async def receive_counted() -> Message:
        nonlocal taken
        message: Message = {}
        if taken <= most:
            message = await receive()
            taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413, f"The body is larger than the limit of {most} bytes.")
        return message

    return receive_counted


def _format_refusal_with_proxy_hint(headers: Headers) -> str:
    said = "This request came from a page of another site. Open the page of Temper, and try again."
    if "x-forwarded-proto" in headers or "x-forwarded-for" in headers:
        return f"{said} Behind a proxy, give its address with --proxy; otherwise Temper does not trust its headers."
    return said


def _is_same_origin_or_not_from_browser(scope: Scope, headers: Headers) -> bool:
    """Return True for same-origin requests and for clients other than browsers, which send no Origin."""
    if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
        return False
    origin = headers.get("origin")
    return origin is None or origin == f"{scope['scheme']}://{headers.get('host')}"


def _is_loopback_name(host: str) -> bool:
    """Return True for localhost and loopback addresses; other names could be pointed here by foreign DNS."""
    name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
    return name.lower() in LOOPBACK_NAMES or _is_loopback_ip_address(name)


def _is_loopback_ip_address(address_text: str) -> bool:
    try:
        return ipaddress.ip_address(address_text.strip("[]")).is_loopback
    except ValueError:
        return False


def _create_audit_event(scope: Scope, visit: RequestContext, status: int) -> AuditedRequest:
    source, person = HTTPConnection(scope).client, visit.person
    return AuditedRequest(
        who=person.name if person else "",
        right=person.right if person else "",
        via=person.via if person else "",
        source=clean_text(source.host, 64) if source else "",
        did=clean_text(f"{scope['method']} {hide_secret_of_shared_link(scope['path'])}", 300),
        status=status,
        token=person.credential if person and person.via in ("token", "link") else "",
        made_by=person.made_by if person else (),
    )
