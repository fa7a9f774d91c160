"""The task that exports finished spans and metrics. An unreachable collector only loses telemetry."""

import asyncio
import logging
import threading
import time
from collections import deque
from contextlib import suppress
from itertools import islice
from typing import Any

import httpx

from app.background.telemetry import otlp_encoding
from app.background.telemetry.run_log_spans import Measure, RunTrace, Span
from app.events.bus import Bus
from app.events.kinds import KINDS
from app.events.record import MACHINE
from app.store.events import EventStore
from app.store.periodic_background_task_base import PeriodicTask

log = logging.getLogger(__name__)

PATIENCE = 10.0
HELD = 20_000
"""Maximum spans and measures buffered for an unreachable collector; the oldest are dropped."""
BATCH = 1000
_KINDS = tuple(kind for kind in KINDS if kind != "turn.delta" and not kind.endswith(".sample"))


class TelemetryExporter(PeriodicTask):
    """Export telemetry to `collector`, the base URL of OTLP over HTTP: http://HOST:4318."""

    name, every, consequence = "telemetry", 2.0, "no telemetry is sent"

    def __init__(self, collector: str, store: EventStore, bus: Bus, http: httpx.AsyncClient, instance: str) -> None:
        self._collector, self._instance = collector.rstrip("/"), instance
        self._store, self._bus, self._http = store, bus, http
        self._began = self._exported_at = time.time()
        self._runs: dict[str, tuple[RunTrace, int]] = {}
        self._done: dict[str, int] = {}
        self._spans: deque[Span] = deque(maxlen=HELD)
        self._measures: deque[Measure] = deque(maxlen=HELD)
        self._silent = False
        self._buffering = threading.Lock()
        """A cancelled task leaves its thread at work, beside which `close` must not fold the same events."""

    async def close(self) -> None:
        """Stop the task and export the remaining telemetry, for PATIENCE seconds at most or until a batch fails."""
        await super().close()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while await self.export_next_batch_and_check_nothing_refused() and (self._spans or self._measures):
                    pass

    async def export_next_batch_and_check_nothing_refused(self) -> bool:
        """Export up to BATCH spans and BATCH measures. Return False if the collector did not accept them."""
        await asyncio.to_thread(self._buffer_spans_and_measures)
        spans = list(islice(self._spans, BATCH))
        if spans and not await self._post_batch_and_check_accepted(
            "/v1/traces", otlp_encoding.encode_traces(spans, self._instance)
        ):
            return False
        _drop_oldest(self._spans, len(spans))
        measures = list(islice(self._measures, BATCH))
        if measures:
            body = otlp_encoding.encode_metrics(measures, self._exported_at, self._instance)
            if not await self._post_batch_and_check_accepted("/v1/metrics", body):
                return False
            _drop_oldest(self._measures, len(measures))
            self._exported_at = time.time()
        return True

    async def _run_once(self) -> None:
        await self.export_next_batch_and_check_nothing_refused()

    def _buffer_spans_and_measures(self) -> None:
        """Fold new events of each run. Skip what ended before this process started: another has exported it."""
        with self._buffering:
            for run, newest in list(self._bus.newest.items()):
                if run == MACHINE or self._done.get(run, -1) >= newest:
                    continue
                trace, seen = self._runs.get(run) or (RunTrace(run), 0)
                for recorded in self._store.read_events(run, seen, newest, _KINDS):
                    for found in trace.fold_event_and_iterate_finished(recorded):
                        if isinstance(found, Span) and found.ended >= self._began:
                            self._spans.append(found)
                        elif isinstance(found, Measure) and found.at >= self._began:
                            self._measures.append(found)
                self._runs[run] = trace, newest
                if trace.ended:
                    del self._runs[run]
                    self._done[run] = newest

    async def _post_batch_and_check_accepted(self, path: str, body: object) -> bool:
        try:
            answer = await self._http.post(f"{self._collector}{path}", json=body, timeout=PATIENCE)
        except (httpx.HTTPError, httpx.InvalidURL) as exc:
            return self._log_refusal_and_return_false(f"it is unreachable: {exc or type(exc).__name__}")
        if answer.is_success:
            self._silent = False
            return True
        return self._log_refusal_and_return_false(f"it answered {answer.status_code}")

    def _log_refusal_and_return_false(self, reason: str) -> bool:
        if not self._silent:
            log.warning("the collector %s does not accept telemetry: %s", self._collector, reason)
            self._silent = True
        return False


def _drop_oldest(held: deque[Any], drop_count: int) -> None:
    for _ in range(drop_count):
        held.popleft()
