"""The client that waits."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Self

import httpx

from temper_client import types
from temper_client.errors import ConnectionFailed
from temper_client.operations import Operations
from temper_client.wire import (
    STREAM_TIMEOUT,
    TIMEOUT,
    RunPosition,
    build_headers,
    build_request,
    parse_messages,
    read_answer,
    read_problem,
)


class Temper(Operations):
    """The API of a server. Use it as a context manager, or close it."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8000",
        token: str | None = None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._http = httpx.Client(
            base_url=url, headers=build_headers(token), timeout=TIMEOUT, transport=transport, follow_redirects=False
        )
        self._sleep = sleep

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def follow_run(self, run: str, *, since: int = 0, kind: str | None = None) -> Iterator[types.Event]:
        """Yield the events of a run until it ends. A lost connection is resumed after the last event."""
        position = RunPosition(since)
        while not position.has_ended:
            yield from self._read_stream(run, kind, position)
            if not position.has_ended:
                self._sleep(position.next_wait())

    def wait_for_run(self, run: str) -> types.RunView:
        """Return the run when it has ended."""
        for _ in self.follow_run(run, kind="run.finished,run.failed,run.stopped"):
            pass
        return self.show_run(run)

    def iterate_runs(self, **filters: Any) -> Iterator[types.RunView]:
        """Yield all runs, newest first; `filters` are those of list_runs."""
        cursor: str | None = None
        while True:
            page = self.list_runs(**filters, cursor=cursor)
            yield from page["runs"]
            cursor = page["cursors"]["next"]
            if cursor is None:
                return

    def iterate_events(self, run: str, *, since: int = 0, kind: str | None = None) -> Iterator[types.Event]:
        """Yield the events that a run has now, in order."""
        at: int | None = since
        while at is not None:
            page = self.list_events(run, since=at, kind=kind)
            yield from page["events"]
            at = page["next"]

    def iterate_audit(self) -> Iterator[types.AuditedRequest]:
        """Yield the lines of the audit log, newest first."""
        page = self.list_audit()
        yield from page["lines"]
        while page["next"] is not None:
            page = self.list_audit(before=page["next"])
            yield from page["lines"]

    def _read_stream(self, run: str, kind: str | None, position: RunPosition) -> Iterator[types.Event]:
        query = {"kind": kind} if kind else {}
        with (
            suppress(httpx.TransportError),
            self._http.stream(
                "GET", f"/api/v1/runs/{run}/stream", params=query, headers=position.headers, timeout=STREAM_TIMEOUT
            ) as answer,
        ):
            if not answer.is_success:
                answer.read()
                if answer.status_code < 500:  # the request is at fault, so another one would be, too
                    raise read_problem(answer)
                return
            for message in parse_messages(answer.iter_lines()):
                event = position.read_message(message)
                if event is not None:
                    yield event
                if position.has_ended:
                    return

    def _send(
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
            answer = self._http.request(method, path, **build_request(query, headers, body))
        except httpx.TransportError as exc:
            raise ConnectionFailed(f"{self._http.base_url} does not answer: {exc or type(exc).__name__}") from exc
        return read_answer(answer, as_file=as_file)
