"""The task that exports finished spans and metrics. An unreachable collector only loses telemetry."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Sequence
from typing import TypeVar

import httpx

from app.background.telemetry import otlp
from app.background.telemetry.spans import Measure, RunTrace, Span
from app.events.bus import Bus
from app.events.kinds import KINDS
from app.events.record import MACHINE
from app.store.events import EventStore
from app.store.rounds import Rounds

log = logging.getLogger(__name__)

PATIENCE = 10.0
HELD = 20_000
"""Maximum spans and measures buffered for an unreachable collector; the oldest are dropped."""
BATCH = 1000
T = TypeVar("T")
_KINDS = tuple(kind for kind in KINDS if kind != "turn.delta" and not kind.endswith(".sample"))


class Exporter(Rounds):
    """Export telemetry to `collector`, the base URL of OTLP over HTTP: http://HOST:4318."""

    name, every, without = "telemetry", 2.0, "no telemetry is told"

    def __init__(self, collector: str, store: EventStore, bus: Bus, http: httpx.AsyncClient, instance: str) -> None:
        self._collector, self._instance = collector.rstrip("/"), instance
        self._store, self._bus, self._http = store, bus, http
        self._began = self._told_at = time.time()
        self._runs: dict[str, tuple[RunTrace, int]] = {}
        self._done: dict[str, int] = {}
        self._spans: deque[Span] = deque(maxlen=HELD)
        self._measures: deque[Measure] = deque(maxlen=HELD)
        self._silent = False

    async def close(self) -> None:
        """Stop the task and export the remaining telemetry once."""
        await super().close()
        await self.tell()

    async def tell(self) -> None:
        await asyncio.to_thread(self._read)
        if spans := _first(self._spans):
            if not await self._post("/v1/traces", otlp.traces(spans, self._instance)):
                return
            _drop(self._spans, len(spans))
        if measures := _first(self._measures):
            if not await self._post("/v1/metrics", otlp.metrics(measures, self._told_at, self._instance)):
                return
            _drop(self._measures, len(measures))
            self._told_at = time.time()

    async def _round(self) -> None:
        await self.tell()

    def _read(self) -> None:
        """Fold new events of each run. Skip what ended before this process started: another has exported it."""
        for run, newest in list(self._bus.newest.items()):
            if run == MACHINE or self._done.get(run, -1) >= newest:
                continue
            trace, seen = self._runs.get(run) or (RunTrace(run), 0)
            for recorded in self._store.events(run, seen, newest, _KINDS):
                for told in trace.take(recorded):
                    if isinstance(told, Span) and told.ended >= self._began:
                        self._spans.append(told)
                    elif isinstance(told, Measure) and told.at >= self._began:
                        self._measures.append(told)
            self._runs[run] = trace, newest
            if trace.ended:
                del self._runs[run]
                self._done[run] = newest

    async def _post(self, path: str, body: object) -> bool:
        try:
            answer = await self._http.post(f"{self._collector}{path}", json=body, timeout=PATIENCE)
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            return self._failed(f"it could not be reached: {exc or type(exc).__name__}")
        if answer.is_success:
            self._silent = False
            return True
        return self._failed(f"it answered {answer.status_code}")

    def _failed(self, why: str) -> bool:
        if not self._silent:
            log.warning("the collector %s takes no telemetry: %s", self._collector, why)
            self._silent = True
        return False


def _first(held: deque[T]) -> Sequence[T]:
    return [held[n] for n in range(min(BATCH, len(held)))]


def _drop(held: deque[T], number: int) -> None:
    for _ in range(number):
        held.popleft()
