"""The streams that somebody watches now, one per run and rendering, and the answer that carries one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from app.events.bus import Bus
from app.store.events import EventStore
from app.web.stream.fanout import Fanout, Render
from app.web.stream.source import source
from app.web.stream.viewer import Viewer, body

HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",  # nginx would hold the first messages back
}


class Streams:
    """One per application. What nobody watches is not followed."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        self._bus, self._store = bus, store
        self._fanouts: dict[tuple[str, str], Fanout] = {}
        self._closed = False

    def watch(
        self, run: str, rendering: str, render: Render, after: int | None = None, *, reach: int | None = None
    ) -> Response:
        """The answer to a viewer who has all up to `after`; None: from the present on.

        Viewers of the same run and `rendering` share the first one's `render` and `reach`.
        """
        return _Stream(self, run, rendering, render, after, reach)

    def fanout(self, run: str, render: Render, reach: int | None) -> Fanout:
        return Fanout(run, self._bus, source(self._store, run), render, reach=reach)

    def close(self) -> None:
        self._closed = True
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

    @property
    def viewers(self) -> int:
        return sum(fanout.viewers for fanout in self._fanouts.values())


class _Stream(Response):
    def __init__(
        self, streams: Streams, run: str, rendering: str, render: Render, after: int | None, reach: int | None
    ) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers(HEADERS)
        self._streams, self._after = streams, after
        self._stream = (run, rendering, render, reach)

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        async with self._streams.joined(*self._stream) as fanout:
            serving = asyncio.create_task(fanout.serve(Viewer(send), self._after), name=f"viewer of {fanout.run}")
            leaving = asyncio.create_task(_left(receive), name=f"viewer of {fanout.run}, leaving")
            try:
                await asyncio.wait({serving, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                done = serving.done()
                serving.cancel()
                leaving.cancel()
                await asyncio.wait({serving, leaving})
        if done:
            serving.result()
            await send(body(b"", more=False))


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
