"""What the header says of the inbox and of health: when a page is rendered, and on open pages when it changes."""

import asyncio
import time
from contextvars import ContextVar

from starlette.types import ASGIApp, Receive, Scope, Send

from app.people.rights import WHO
from app.runs.open_decision_reader import DecisionReader
from app.runtime.health_faults import find_faults
from app.runtime.health_reading import read_conditions
from app.runtime.runtime import Runtime
from app.store.db import DATABASE_UNAVAILABLE
from app.store.periodic_background_task_base import PeriodicTask
from app.web.pages.live_parts import wrap_partials
from app.web.stream.newest_message_broadcast import Announcements
from app.web.stream.sse_messages import encode_message
from app.web.stream.viewer_connection import Viewer

RECOUNT_SECONDS = 10.0
"""Seconds after which an unchanged inbox is counted again: what waits may expire."""
_INBOX: ContextVar[DecisionReader | None] = ContextVar("inbox", default=None)
"""The decisions of the application that serves the current request."""
_RUNTIME: ContextVar[Runtime | None] = ContextVar("runtime of the header", default=None)


class InboxContext:
    """Middleware: lets every page of this application count its inbox, and say what is broken."""

    def __init__(self, app: ASGIApp, decisions: DecisionReader, runtime: Runtime) -> None:
        self._app, self._decisions, self._runtime = app, decisions, runtime

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        _INBOX.set(self._decisions)
        _RUNTIME.set(self._runtime)
        await self._app(scope, receive, send)


def count_inbox() -> int:
    """Return how many decisions wait; 0 for a stranger and for a shared link, which see none of them."""
    decisions, person = _INBOX.get(), WHO.get()
    if decisions is None or person is None or person.via == "link":
        return 0
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _count_decisions(decisions)
    return decisions.last_count  # an error page, rendered on the event loop, which must not wait for the database


def read_badge_text_of_worst_fault() -> str:
    """Return what is broken, in two words; nothing for a stranger and for a shared link."""
    runtime, person = _RUNTIME.get(), WHO.get()
    return "" if runtime is None or person is None or person.via == "link" else _choose_fault_badge_text(runtime)


def _choose_fault_badge_text(runtime: Runtime) -> str:
    """Return the badge of the fault that stops work, or else of the first."""
    faults = find_faults(read_conditions(runtime))
    badges = sorted(faults, key=lambda fault: not fault.stops_work)
    return f"✗ {badges[0].badge}" if badges else ""


def _count_decisions(decisions: DecisionReader) -> int:
    try:
        return len(decisions.list_decisions())
    except DATABASE_UNAVAILABLE:
        return decisions.last_count


class InboxWatch(PeriodicTask):
    """One per application. It counts only while somebody has a page with a stream open."""

    name, consequence = "inbox", "the headers of open pages are not kept up to date"
    every = 1.0

    def __init__(self, decisions: DecisionReader, runtime: Runtime) -> None:
        self._decisions, self._runtime, self._told = decisions, runtime, Announcements()
        self._seen, self._counted_at = -1, float("-inf")
        """Version of the database at the last count, and its monotonic time."""
        self._waiting, self._badge = 0, ""
        self._silent = False

    async def serve_viewer(self, viewer: Viewer) -> None:
        await self._recount_and_announce()
        self._told.viewers += 1
        try:
            await self._told.serve_viewer(viewer)
        finally:
            self._told.viewers -= 1

    async def _run_once(self) -> None:
        if not self._told.viewers:
            return
        now = time.monotonic()
        if self._runtime.changes.version() != self._seen or now - self._counted_at > RECOUNT_SECONDS:
            await self._recount_and_announce()
        elif _choose_fault_badge_text(self._runtime) != self._badge:
            self._announce_header()
        elif self._silent:
            self._told.send_keepalive()
        self._silent = not self._silent

    async def _recount_and_announce(self) -> None:
        self._seen, self._counted_at = self._runtime.changes.version(), time.monotonic()
        self._waiting = await asyncio.to_thread(_count_decisions, self._decisions)
        self._announce_header()

    def _announce_header(self) -> None:
        self._badge = _choose_fault_badge_text(self._runtime)
        said = {"inbox-count": str(self._waiting or ""), "health-badge": self._badge}
        self._told.announce(encode_message(wrap_partials(said).encode()))
