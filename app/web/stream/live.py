"""What has no place in a run's log and is true now: sent whole to who comes, then as it changes."""

import asyncio
from collections.abc import Sequence
from typing import Protocol

from app.events.record import Recorded
from app.web.stream.fanout import Fanout
from app.web.stream.viewer import Viewer


class Live(Protocol):
    """One per application, so that all see the same. Its messages carry no id: a page's cursor is its run's."""

    name: str

    def __call__(self, batch: Sequence[Recorded]) -> bytes: ...

    def whole(self) -> bytes:
        """All of it as it was sent last."""


async def serve_live(fanout: Fanout, live: Live, viewer: Viewer) -> None:
    """What comes after the whole was drawn is caught up with, so nothing falls between the two."""
    after = await fanout.present()
    await viewer.write(await asyncio.to_thread(live.whole))
    await fanout.serve(viewer, after)
