"""Live parts of a page that are not in a run's log: sent whole to a new viewer, then as they change."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from app.events.record import Recorded
from app.web.stream.fanout import Fanout
from app.web.stream.viewer import Viewer


class LiveRender(Protocol):
    """One per application, so all viewers see the same. Its messages have no id: the page's cursor is its run's."""

    name: str

    def __call__(self, batch: Sequence[Recorded]) -> bytes: ...

    def render_all(self) -> bytes:
        """Return all parts as last sent."""


async def serve_live_parts(fanout: Fanout, live: LiveRender, viewer: Viewer) -> None:
    """Send the whole, then all changes since before it was rendered, so that none is lost."""
    after = await fanout.wait_for_head()
    await viewer.write(await asyncio.to_thread(live.render_all))
    await fanout.serve_viewer(viewer, after)
