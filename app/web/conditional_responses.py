"""Answer conditional GETs of the API: 304 for an unchanged body, 206 for a byte range of an evidence pack."""

import asyncio
import hashlib
import re
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.evidence import pack
from app.web.api.api_route import PREFIX
from app.web.api.problem import Problem

RANGE_MEDIA_TYPES = (pack.MEDIA_TYPE,)
"""Media types that are sent uncompressed, so byte offsets are stable and ranges are possible."""
LARGE = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{1,18})?-(\d{1,18})?")


@dataclass(frozen=True)
class ByteRange:
    """A range of body bytes; `last` is inclusive."""

    first: int
    last: int


class RangeNotSatisfiable(Exception):
    """The range begins after the end of the body."""


class ConditionalResponses:
    """ASGI middleware. It runs inside the guard, so a person without access learns nothing from an ETag."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or not scope["path"].startswith(PREFIX):
            return await self._app(scope, receive, send)
        return await self._app(scope, receive, _ConditionalSend(scope, receive, send).send_message)


class _ConditionalSend:
    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._start: Message | None = None
        self._part: ByteRange | None = None
        self._at, self._answered = 0, False

    async def send_message(self, message: Message) -> None:
        """Tag a response whose body is one piece or that has an ETag already; pass other streams through."""
        if message["type"] == "http.response.start" and message["status"] == 200 and _has_content_length(message):
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            headers = MutableHeaders(scope=start)
            if "etag" in headers or not message.get("more_body"):
                self._answered = not await self._send_etag_start_expecting_body(
                    start, headers, message.get("body", b"")
                )
            else:
                await self._send(start)
        if not self._answered:
            await self._send_body_cut_to_range(message)

    async def _send_etag_start_expecting_body(self, start: Message, headers: MutableHeaders, body: bytes) -> bool:
        """Send 304, 206 or the full response with an ETag. Return True if body bytes follow."""
        in_parts = headers.get("content-type", "") in RANGE_MEDIA_TYPES
        if "etag" not in headers:
            digest = (
                await asyncio.to_thread(_compute_etag_digest, body) if len(body) > LARGE else _compute_etag_digest(body)
            )
            headers["etag"] = f'"{digest}"' if in_parts else f'W/"{digest}"'
        headers.setdefault("cache-control", "private, no-cache")
        if in_parts:
            headers["accept-ranges"] = "bytes"
        asked, size = Headers(scope=self._scope), int(headers["content-length"])
        if matches_etag(asked.get("if-none-match"), headers["etag"]):
            kept = {name: headers[name] for name in ("etag", "cache-control", "vary") if name in headers}
            return await self._replace_response_and_return_false(Response(status_code=304, headers=kept))
        if in_parts and asked.get("if-range", headers["etag"]) == headers["etag"]:
            try:
                self._part = part = parse_range_if_single_and_valid(asked.get("range"), size)
            except RangeNotSatisfiable:
                return await self._replace_response_and_return_false(_create_range_problem_response(size))
            if part:
                start["status"] = 206
                headers["content-range"] = f"bytes {part.first}-{part.last}/{size}"
                headers["content-length"] = str(part.last + 1 - part.first)
        await self._send(start)
        return True

    async def _send_body_cut_to_range(self, message: Message) -> None:
        if self._part:
            body, at = message.get("body", b""), self._at
            self._at += len(body)
            message["body"] = body[max(self._part.first - at, 0) : max(self._part.last + 1 - at, 0)]
        await self._send(message)

    async def _replace_response_and_return_false(self, answer: Response) -> bool:
        await answer(self._scope, self._receive, self._send)
        return False


def _has_content_length(start: Message) -> bool:
    """Return True if the length is known. A stream's start must not wait for a body that may never come."""
    return "content-length" in Headers(raw=start["headers"])


def _create_range_problem_response(size: int) -> Response:
    said = f"There are {size} bytes, and the range begins past the last one: ask again without it."
    return Problem("no-such-range", said, field="Range", headers={"content-range": f"bytes */{size}"}).to_response()


def _compute_etag_digest(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()[:32]


def matches_etag(if_none_match: str | None, tag: str) -> bool:
    """Compare an If-None-Match header with an ETag, weakly, as RFC 9110 requires for GET."""
    if if_none_match is None:
        return False
    tags = [one.strip().removeprefix("W/") for one in if_none_match.split(",")]
    return "*" in tags or tag.removeprefix("W/") in tags


def parse_range_if_single_and_valid(range_header: str | None, size: int) -> ByteRange | None:
    """Parse a Range header. Return None for the whole body: no range, several ranges or an invalid one (RFC 9110).

    Raises RangeNotSatisfiable if the range begins after the end."""
    found = _RANGE.fullmatch((range_header or "").replace(" ", ""))
    if found is None or found[0] == "bytes=-":
        return None
    if found[1] is None:
        first, last = max(0, size - int(found[2])), size - 1
    else:
        first, last = int(found[1]), size - 1 if found[2] is None else min(int(found[2]), size - 1)
        if found[2] is not None and int(found[2]) < first:
            return None
    if first > last:
        raise RangeNotSatisfiable
    return ByteRange(first, last)
