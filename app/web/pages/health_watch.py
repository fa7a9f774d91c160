"""Tells every open page that shows work what is broken, twice a second, also while the log cannot be written."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from app.loop.state import RunState
from app.runtime.health_faults import HealthFault, StoredConditions, find_faults
from app.runtime.health_reading import NO_RUN, UNKNOWN, read_conditions, read_stored_conditions
from app.runtime.runtime import Runtime
from app.store.db import DATABASE_UNAVAILABLE
from app.store.periodic_background_task_base import PeriodicTask
from app.web.pages.fault_consequences import FaultedRun
from app.web.pages.live_parts import wrap_partials
from app.web.pages.templating import render_template_to_text
from app.web.stream.fold_cache import RunStateCache
from app.web.stream.newest_message_broadcast import Announcements
from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer_connection import Viewer

log = logging.getLogger(__name__)

FIRST_SECONDS = 1.0
"""Seconds to wait for a database that hangs, before a page gets the rest."""


def render_health(faults: Sequence[HealthFault], run: FaultedRun | None = None) -> str:
    """Render the faults as the inner HTML of the page's #health, on the page of a run with what they mean for it."""
    return render_template_to_text("partials/_health.html", faults=faults, run=run)


def build_faulted_run(runtime: Runtime, state: RunState) -> FaultedRun:
    return FaultedRun(state, tuple(runtime.launched), runtime.simulator is not None)


class WatchedRun(NamedTuple):
    """What was last read of a run."""

    conditions: StoredConditions = UNKNOWN
    state: RunState | None = None
    """None on pages that show more than one run."""


_UNREAD = WatchedRun()


class HealthWatch(PeriodicTask):
    """One per application. It looks only while somebody watches. A database that hangs holds up no announcement."""

    name, consequence = "health", "open pages are not told what is broken"
    every = 0.5

    def __init__(self, runtime: Runtime, folds: RunStateCache) -> None:
        self._runtime, self._folds = runtime, folds
        self._watched: dict[str, Announcements] = {}
        self._joined = asyncio.Event()
        self._stored: dict[str, WatchedRun] = {}
        self._reading: asyncio.Task[dict[str, WatchedRun]] | None = None
        self._is_failing = False

    def create_run_health(self, run: str) -> "RunHealth":
        return RunHealth(self, run)

    def read_faults(self, run: str = NO_RUN) -> tuple[HealthFault, ...]:
        """Return the faults that concern the run, or all of this process."""
        return find_faults(read_conditions(self._runtime, self._stored.get(run, _UNREAD).conditions))

    async def serve_viewer(self, run: str, viewer: Viewer) -> None:
        if run not in self._watched:
            await self._read_before_first_announcement(run)
        told = self._watched.setdefault(run, Announcements())
        self._joined.set()
        told.announce(self._encode_health(run))
        told.viewers += 1
        try:
            await told.serve_viewer(viewer)
        finally:
            told.viewers -= 1
            if not told.viewers:
                del self._watched[run]
                self._stored.pop(run, None)

    async def _read_before_first_announcement(self, run: str) -> None:
        """Read what is stored before the first announcement, which would else take back what the page shows."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_SECONDS):
                self._stored |= await asyncio.to_thread(self._read_watched_runs, [run])

    async def close(self) -> None:
        if self._reading:
            self._reading.cancel()
        await super().close()

    async def _wait_for_next(self) -> None:
        self._joined.clear()
        if not self._watched:
            await self._joined.wait()
        await super()._wait_for_next()

    async def _run_once(self) -> None:
        self._collect_reading_and_begin_next()
        for run, told in self._watched.items():
            told.announce(self._encode_health(run))

    def _collect_reading_and_begin_next(self) -> None:
        """Take what was read since the last pass, and read again."""
        if self._reading and not self._reading.done():
            return
        failure = self._reading.exception() if self._reading else None
        if failure and not self._is_failing:
            log.error("what is broken cannot be read for open pages", exc_info=failure)
        self._is_failing = failure is not None
        if self._reading and not failure:
            # A run that is watched since the reading began is not in it, and one may be that nobody watches any more.
            self._stored |= {run: one for run, one in self._reading.result().items() if run in self._watched}
        reading = asyncio.to_thread(self._read_watched_runs, list(self._watched))
        self._reading = asyncio.create_task(reading, name="health of runs")

    def _read_watched_runs(self, runs: Sequence[str]) -> dict[str, WatchedRun]:
        try:
            states = {run: self._folds.read_current(run) for run in runs if run != NO_RUN}
            stored = read_stored_conditions(self._runtime, runs)
        except DATABASE_UNAVAILABLE:
            return {}
        return {run: WatchedRun(one, states.get(run)) for run, one in stored.items()}

    def _encode_health(self, run: str) -> bytes:
        faults, state = self.read_faults(run), self._stored.get(run, _UNREAD).state
        about = build_faulted_run(self._runtime, state) if faults and state else None
        return encode_message(wrap_partials({"health": render_health(faults, about)}).encode())


class RunHealth:
    """The faults that concern one run, for the viewers of its stream."""

    def __init__(self, watch: HealthWatch, run: str) -> None:
        self._watch, self._run = watch, run

    async def serve_viewer(self, viewer: Viewer) -> None:
        await self._watch.serve_viewer(self._run, viewer)
