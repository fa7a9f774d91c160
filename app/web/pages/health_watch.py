"""Tells every open page that shows work what is broken, twice a second, also while the log cannot be written."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlmodel import Session

from app.events.kinds import RunWaiting
from app.runtime.health import SILENT_NODE, HealthFault, find_faults, read_conditions
from app.runtime.runtime import WAITS, Runtime
from app.store import nodes
from app.store.background_task import PeriodicTask
from app.store.db import DATABASE_UNAVAILABLE
from app.store.nodes import NodeStatus
from app.web.pages.live_parts import wrap_partials
from app.web.pages.templating import render_template
from app.web.stream.announcements import Announcements
from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer import Viewer

NO_RUN = ""
"""Watched by pages that show more than one run."""


def render_health(faults: Sequence[HealthFault]) -> str:
    """Render the faults as the inner HTML of the page's #health."""
    return render_template("partials/_health.html", faults=faults)


@dataclass(frozen=True)
class StoredConditions:
    """What only the database knows of the runs in work."""

    silent_workers: dict[str, NodeStatus] = field(default_factory=dict)
    waits: dict[str, tuple[float, RunWaiting]] = field(default_factory=dict)


class HealthWatch(PeriodicTask):
    """One per application. It looks only while somebody watches. A database that hangs holds up no announcement."""

    name, consequence = "health", "open pages are not told what is broken"
    every = 0.5

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watched: dict[str, Announcements] = {}
        self._stored = StoredConditions()
        self._reading: asyncio.Task[StoredConditions] | None = None

    def watch_run(self, run: str) -> "RunHealth":
        return RunHealth(self, run)

    def read_faults(self, run: str = NO_RUN) -> tuple[HealthFault, ...]:
        """Return the faults that concern the run, or all of this process."""
        stored = self._stored
        return find_faults(read_conditions(self._runtime, stored.silent_workers.get(run), stored.waits.get(run)))

    async def serve_viewer(self, run: str, viewer: Viewer) -> None:
        told = self._watched.setdefault(run, Announcements())
        told.announce(self._encode_health(run))
        told.viewers += 1
        try:
            await told.serve_viewer(viewer)
        finally:
            told.viewers -= 1
            if not told.viewers:
                del self._watched[run]

    async def close(self) -> None:
        if self._reading:
            self._reading.cancel()
        await super().close()

    async def _run_once(self) -> None:
        if not self._watched:
            return
        self._take_stored_conditions()
        for run, told in self._watched.items():
            told.announce(self._encode_health(run))

    def _take_stored_conditions(self) -> None:
        """Take what was read since the last pass, and read again."""
        if self._reading and not self._reading.done():
            return
        if self._reading and not self._reading.exception():
            self._stored = self._reading.result()
        runs = [run for run in self._watched if run]
        self._reading = asyncio.create_task(asyncio.to_thread(self._read_stored, runs), name="health of runs")

    def _read_stored(self, runs: Iterable[str]) -> StoredConditions:
        try:
            return StoredConditions(self._find_silent_workers() if self._runtime.leases else {}, self._find_waits(runs))
        except DATABASE_UNAVAILABLE:
            return self._stored

    def _find_waits(self, runs: Iterable[str]) -> dict[str, tuple[float, RunWaiting]]:
        newest = {run: self._runtime.store.read_newest(run, None, WAITS, 1) for run in runs}
        told = {run: (found[0].at, found[0].event) for run, found in newest.items() if found}
        return {run: (at, event) for run, (at, event) in told.items() if isinstance(event, RunWaiting)}

    def _encode_health(self, run: str) -> bytes:
        return encode_message(wrap_partials({"health": render_health(self.read_faults(run))}).encode())

    def _find_silent_workers(self) -> dict[str, NodeStatus]:
        """Return the node that works on a run but sends no heartbeat, by run."""
        with Session(self._runtime.database) as session:
            living = nodes.list_node_statuses(session)
        return {run: node for node in living if node.silent_seconds > SILENT_NODE for run in node.runs}


class RunHealth:
    """The faults that concern one run, for the viewers of its stream."""

    def __init__(self, watch: HealthWatch, run: str) -> None:
        self._watch, self._run = watch, run

    async def serve_viewer(self, viewer: Viewer) -> None:
        await self._watch.serve_viewer(self._run, viewer)
