"""The streams being watched, one per run and rendering, and the responses that carry them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, Protocol

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.events.bus import Bus
from app.events.record import ALL, MACHINE, Recorded
from app.store.events import EventStore
from app.web.stream.all_runs import REACH, AllRunsSource
from app.web.stream.fanout import Fanout
from app.web.stream.newest_message_broadcast import Notices
from app.web.stream.renderer_types import Render
from app.web.stream.run_and_machine_event_sources import open_source
from app.web.stream.viewer_connection import ChunkWriter, Viewer, create_body_message


class LiveRender(Protocol):
    """One per application, so all viewers see the same. Its messages have no id: the page's cursor is its run's."""

    name: str

    def __call__(self, batch: Sequence[Recorded]) -> bytes: ...

    def render_all(self) -> bytes:
        """Return all parts as last sent."""


StreamPart = tuple[str, Callable[[Viewer], Coroutine[Any, Any, None]]]
"""What a viewer watches, in words, and the function that serves it until it ends."""

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # otherwise nginx buffers the first messages
}


class StreamRegistry:
    """One per application. Runs without viewers are not followed."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        self._bus, self._store = bus, store
        self._all = AllRunsSource(bus, store)
        self._fanouts: dict[tuple[str, str], Fanout] = {}
        self.viewers = 0
        """Number of open streams."""
        self._closed = False

    def create_stream_response(
        self,
        run: str,
        rendering_name: str,
        render: Render,
        after: int | None = None,
        *,
        live: LiveRender | None = None,
        notices: Sequence[Notices] = (),
    ) -> Response:
        """Return the stream for a viewer that has all events up to `after`; None starts at the head.

        Viewers of the same run and `rendering_name` share the first one's `render`. `live` adds live parts and
        `notices` to the same stream, because browsers allow only six connections."""

        async def serve_run(viewer: Viewer) -> None:
            async with self.join_fanout(run, rendering_name, render) as fanout:
                await fanout.serve_viewer(viewer, after)

        return _StreamResponse(self, [("a run", serve_run), *self._list_live_parts(live, notices)])

    def create_live_response(self, live: LiveRender, notices: Sequence[Notices]) -> Response:
        """Return a response with live parts and notices only."""
        return _StreamResponse(self, self._list_live_parts(live, notices))

    def _list_live_parts(self, live: LiveRender | None, notices: Sequence[Notices]) -> list[StreamPart]:
        machine = [("the machine", partial(self.serve_machine, live))] if live else []
        return [*machine, *(("notices", one.serve_viewer) for one in notices)]

    async def serve_machine(self, live: LiveRender, viewer: Viewer) -> None:
        """Send the whole, then all changes since before it was rendered, so that none is lost."""
        async with self.join_fanout(MACHINE, live.name, live) as fanout:
            after = await fanout.wait_until_opened_and_get_head()
            await viewer.write(await asyncio.to_thread(live.render_all))
            await fanout.serve_viewer(viewer, after)

    def create_fanout(self, run: str, render: Render) -> Fanout:
        if run == ALL:
            self._all.start()
            return Fanout(run, self._bus, self._all, render, reach=REACH)
        return Fanout(run, self._bus, open_source(self._store, run), render)

    def close(self) -> None:
        self._closed = True
        self._all.close()
        for fanout in self._fanouts.values():
            fanout.close()

    @asynccontextmanager
    async def join_fanout(self, run: str, rendering_name: str, render: Render) -> AsyncIterator[Fanout]:
        key = (run, rendering_name)
        fanout = self._fanouts.get(key)
        if fanout is None or fanout.is_closed:
            fanout = self._fanouts[key] = self.create_fanout(run, render)
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


class _StreamResponse(Response):
    def __init__(self, streams: StreamRegistry, parts: Sequence[StreamPart]) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self._streams, self._parts = streams, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        way = _find_direct_writer(scope)
        serving = [
            asyncio.create_task(serve(Viewer(send, way)), name=f"viewer of {watched}") for watched, serve in self._parts
        ]
        leaving = asyncio.create_task(_wait_for_disconnect(receive), name="viewer, leaving")
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
            await send(create_body_message(b"", more=False))


def _find_direct_writer(scope: Scope) -> ChunkWriter | None:
    """Return the connection's direct writer, or None: HTTP/1.0 has no chunked encoding."""
    line = scope.get("state", {}).get("line")
    way: ChunkWriter | None = line.find_direct_writer() if line and scope.get("http_version") == "1.1" else None
    return way


async def _wait_for_disconnect(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
