"""The client for asyncio."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any, Self

import httpx

from temper_client import types
from temper_client.errors import ConnectionFailed
from temper_client.operations import AsyncOperations
from temper_client.wire import (
    STREAM_TIMEOUT,
    TIMEOUT,
    MessageReader,
    RunPosition,
    build_headers,
    build_request,
    read_answer,
    read_problem,
)


class AsyncTemper(AsyncOperations):
    """The API of a server. Use it as a context manager, or close it."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._http = httpx.AsyncClient(
            base_url=url, headers=build_headers(token), timeout=TIMEOUT, transport=transport, follow_redirects=False
        )
        self._sleep = sleep

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def follow_run(self, run: str, *, since: int = 0, kind: str | None = None) -> AsyncIterator[types.Event]:
        """Yield the events of a run until it ends. A lost connection is resumed after the last event."""
        position = RunPosition(since)
        while not position.has_ended:
            async for event in self._read_stream(run, kind, position):
                yield event
            if not position.has_ended:
                await self._sleep(position.next_wait())

    async def wait_for_run(self, run: str) -> types.RunView:
        """Return the run when it has ended."""
        async for _ in self.follow_run(run, kind="run.finished,run.failed,run.stopped"):
            pass
        return await self.show_run(run)

    async def iterate_runs(self, **filters: Any) -> AsyncIterator[types.RunView]:
        """Yield all runs, newest first; `filters` are those of list_runs."""
        cursor: str | None = None
        while True:
            page = await self.list_runs(**filters, cursor=cursor)
            for one in page["runs"]:
                yield one
            cursor = page["cursors"]["next"]
            if cursor is None:
                return

    async def iterate_events(self, run: str, *, since: int = 0, kind: str | None = None) -> AsyncIterator[types.Event]:
        """Yield the events that a run has now, in order."""
        at: int | None = since
        while at is not None:
            page = await self.list_events(run, since=at, kind=kind)
            for one in page["events"]:
                yield one
            at = page["next"]

    async def iterate_audit(self) -> AsyncIterator[types.AuditedRequest]:
        """Yield the lines of the audit log, newest first."""
        page = await self.list_audit()
        for line in page["lines"]:
            yield line
        while page["next"] is not None:
            page = await self.list_audit(before=page["next"])
            for line in page["lines"]:
                yield line

    async def _read_stream(self, run: str, kind: str | None, position: RunPosition) -> AsyncIterator[types.Event]:
        query = {"kind": kind} if kind else {}
        with suppress(httpx.TransportError):
            async with self._http.stream(
                "GET", f"/api/v1/runs/{run}/stream", params=query, headers=position.headers, timeout=STREAM_TIMEOUT
            ) as answer:
                if not answer.is_success:
                    await answer.aread()
                    if answer.status_code < 500:  # the request is at fault, so another one would be, too
                        raise read_problem(answer)
                    return
                reader = MessageReader()
                async for line in answer.aiter_lines():
                    message = reader.read_line(line)
                    event = position.read_message(message) if message else None
                    if event is not None:
                        yield event
                    if position.has_ended:
                        return

    async def _send(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, Any] | None = None,
        headers: dict[str, Any] | None = None,
        body: Any = None,
        as_file: bool = False,
    ) -> Any:
        try:
            answer = await self._http.request(method, path, **build_request(query, headers, body))
        except httpx.TransportError as exc:
            raise ConnectionFailed(f"{self._http.base_url} does not answer: {exc or type(exc).__name__}") from exc
        return read_answer(answer, as_file=as_file)
