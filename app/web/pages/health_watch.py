"""Tells every open page of a run what is broken, twice a second, also while the log cannot be written."""

import asyncio
from collections.abc import Sequence

from sqlmodel import Session

from app.runtime.health import SILENT_NODE, HealthFault, find_faults, read_conditions
from app.runtime.runtime import Runtime
from app.store import nodes
from app.store.background_task import PeriodicTask
from app.store.nodes import NodeStatus
from app.web.pages.live_parts import wrap_partials
from app.web.pages.templating import render_template
from app.web.stream.announcements import Announcements
from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer import Viewer


def render_health(faults: Sequence[HealthFault]) -> str:
    """Render the faults as the inner HTML of the page's #health."""
    return render_template("partials/_health.html", faults=faults)


class HealthWatch(PeriodicTask):
    """One per application. It looks only while somebody watches a run."""

    name, consequence = "health", "open pages are not told what is broken"
    every = 0.5

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._watched: dict[str, Announcements] = {}

    def watch_run(self, run: str) -> "RunHealth":
        return RunHealth(self, run)

    def read_faults(self) -> tuple[HealthFault, ...]:
        return find_faults(read_conditions(self._runtime))

    async def serve_viewer(self, run: str, viewer: Viewer) -> None:
        told = self._watched.setdefault(run, Announcements())
        told.announce(self._encode_health(None))
        told.viewers += 1
        try:
            await told.serve_viewer(viewer)
        finally:
            told.viewers -= 1
            if not told.viewers:
                del self._watched[run]

    async def _run_once(self) -> None:
        if not self._watched:
            return
        silent = await asyncio.to_thread(self._find_silent_workers) if self._runtime.leases else {}
        for run, told in self._watched.items():
            told.announce(self._encode_health(silent.get(run)))

    def _encode_health(self, silent_worker: NodeStatus | None) -> bytes:
        faults = find_faults(read_conditions(self._runtime, silent_worker))
        return encode_message(wrap_partials({"health": render_health(faults)}).encode())

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
