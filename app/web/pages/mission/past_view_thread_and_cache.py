"""Past moments of runs: built in a thread of their own and kept for a while, so that the page never waits for them."""

import asyncio
import time
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Annotated, TypeVar

from fastapi import Depends, HTTPException
from sqlalchemy import Engine
from sqlmodel import Session
from starlette.responses import Response

from app.store.session_shared_within_request import share_session_within_request
from app.web.deps import create_state_dependency
from app.web.pages.mission.page_context import MissionView
from app.web.stream.recently_used import RecentlyUsed

R = TypeVar("R", bound=Response)
WAITING = 128
"""Requests that may wait; later ones get 503."""
KEPT, KEPT_SECONDS = 32, 30.0
"""Samples of a moment may still arrive, so a view is not kept for long."""
LONGEST_REST = 0.2


class PastViewThread:
    """Builds past moments one after the other, and rests after each as long as it took.

    Building holds the interpreter's lock: without the rest, forty viewers slow every other request of the process."""

    def __init__(self, reading: Engine) -> None:
        self._reading = reading
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="moments")
        self._kept = RecentlyUsed[Hashable, tuple[float, MissionView]](KEPT)
        """Views by what they show and to whom, with the time of their making. Only the thread uses it."""
        self._waiting, self._rest_until = 0, 0.0

    def close(self) -> None:
        self._thread.shutdown(cancel_futures=True)

    async def answer(self, build: Callable[[Session], R]) -> R:
        """Return what `build` returns, with its one database session; raise HTTPException if too many wait."""
        if self._waiting >= WAITING:
            raise HTTPException(503, "many people look at past moments: try again in a moment", {"retry-after": "2"})
        self._waiting += 1
        try:
            work = copy_context().run  # with the person of this request
            return await asyncio.get_running_loop().run_in_executor(self._thread, work, self._build_with_session, build)
        finally:
            self._waiting -= 1

    def get_or_build_view_on_calling_thread(self, key: Hashable, build: Callable[[], MissionView]) -> MissionView:
        """Return the kept view, or build it. For use within `answer`."""
        made_at, view = self._kept.get(key, (0.0, None))
        if view is None or time.monotonic() - made_at > KEPT_SECONDS:
            made_at, view = time.monotonic(), build()
        self._kept.keep(key, (made_at, view))
        return view

    def _build_with_session(self, build: Callable[[Session], R]) -> R:
        time.sleep(max(0.0, self._rest_until - time.monotonic()))
        began = time.monotonic()
        try:
            with Session(self._reading) as session, share_session_within_request(session):
                return build(session)
        finally:
            ended = time.monotonic()
            self._rest_until = ended + min(ended - began, LONGEST_REST)


TheMoments = Annotated[PastViewThread, Depends(create_state_dependency("moments"))]
