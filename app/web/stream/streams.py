"""The streams being watched, one per run and rendering, and the responses that carry them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.events.bus import Bus
from app.events.record import ALL, MACHINE
from app.store.events import EventStore
from app.web.stream.all_runs import REACH, AllRuns
from app.web.stream.fanout import Fanout
from app.web.stream.live import Live, serve_live
from app.web.stream.rendering import Render
from app.web.stream.source import source
from app.web.stream.viewer import Viewer, WayOut, body

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # otherwise nginx buffers the first messages
}


class Streams:
    """One per application. Runs without viewers are not followed."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        self._bus, self._store = bus, store
        self._all = AllRuns(bus, store)
        self._fanouts: dict[tuple[str, str], Fanout] = {}
        self.viewers = 0
        """Number of open streams."""
        self._closed = False

    def watch(
        self,
        run: str,
        rendering: str,
        render: Render,
        after: int | None = None,
        *,
        reach: int | None = None,
        live: Live | None = None,
    ) -> Response:
        """Return the stream for a viewer that has all events up to `after`; None starts at the head.

        Viewers of the same run and `rendering` share the first one's `render` and `reach`. `live` adds live parts
        to the same stream, because browsers allow only six connections."""
        return _Stream(self, lambda viewer: self._run(viewer, run, rendering, render, after, reach), live)

    def watch_live(self, live: Live) -> Response:
        """Return a response with live parts only."""
        return _Stream(self, None, live)

    async def _run(
        self, viewer: Viewer, run: str, rendering: str, render: Render, after: int | None, reach: int | None
    ) -> None:
        async with self.joined(run, rendering, render, reach) as fanout:
            await fanout.serve(viewer, after)

    async def live(self, live: Live, viewer: Viewer) -> None:
        async with self.joined(MACHINE, live.name, live, None) as fanout:
            await serve_live(fanout, live, viewer)

    def fanout(self, run: str, render: Render, reach: int | None) -> Fanout:
        if run == ALL:
            self._all.start()
            return Fanout(run, self._bus, self._all, render, reach=REACH)
        return Fanout(run, self._bus, source(self._store, run), render, reach=reach)

    def close(self) -> None:
        self._closed = True
        self._all.close()
        for fanout in self._fanouts.values():
            fanout.close()

    @asynccontextmanager
    async def joined(self, run: str, rendering: str, render: Render, reach: int | None) -> AsyncIterator[Fanout]:
        key = (run, rendering)
        fanout = self._fanouts.get(key)
        if fanout is None or fanout.over:
            fanout = self._fanouts[key] = self.fanout(run, render, reach)
            fanout.start()
        if self._closed:
            fanout.close()
        fanout.viewers += 1
        try:
            yield fanout
        finally:
            fanout.viewers -= 1
            if not fanout.viewers:
                fanout.close()
                if self._fanouts.get(key) is fanout:
                    del self._fanouts[key]


class _Stream(Response):
    def __init__(
        self, streams: Streams, serve: Callable[[Viewer], Coroutine[Any, Any, None]] | None, live: Live | None
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self._streams, self._serve, self._live = streams, serve, live

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        way = _way(scope)
        serving = [asyncio.create_task(self._serve(Viewer(send, way)), name="viewer of a run")] if self._serve else []
        if self._live:
            machine = self._streams.live(self._live, Viewer(send, way))
            serving.append(asyncio.create_task(machine, name="viewer of the machine"))
        leaving = asyncio.create_task(_left(receive), name="viewer, leaving")
        self._streams.viewers += 1
        try:
            await asyncio.wait({*serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._streams.viewers -= 1
            done = [task for task in serving if task.done()]
            for task in (*serving, leaving):
                task.cancel()
            await asyncio.wait({*serving, leaving})
        for task in done:
            task.result()
        if done:
            await send(body(b"", more=False))


def _way(scope: Scope) -> WayOut | None:
    """Return the connection's direct writer, or None: HTTP/1.0 has no chunked encoding."""
    line = scope.get("state", {}).get("line")
    way: WayOut | None = line.straight() if line and scope.get("http_version") == "1.1" else None
    return way


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
