"""Telemetry to a collector of the test's own: what it gets, and what happens while it is gone."""

import asyncio
import json
import threading

import httpx

from app.background.telemetry import exporter
from app.background.telemetry.exporter import BATCH, TelemetryExporter
from app.background.telemetry.run_log_spans import Measure, RunTrace, Span
from app.events.bus import Bus
from app.events.kinds import TurnStarted
from app.store.db import open_and_migrate_database
from app.store.events import EventStore


class Collector:
    def __init__(self):
        self.got, self.up = {"/v1/traces": [], "/v1/metrics": []}, True

    def __call__(self, request):
        if not self.up:
            raise httpx.ConnectError("refused")
        self.got[request.url.path].append(json.loads(request.content))
        return httpx.Response(200, json={})

    def spans(self):
        return [
            span
            for body in self.got["/v1/traces"]
            for resource in body["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]

    def points(self, name):
        return [
            point
            for body in self.got["/v1/metrics"]
            for metric in body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"]
            if metric["name"] == name
            for point in metric["histogram"]["dataPoints"]
        ]


async def telling(tmp_path, log, collector, *, halves=False):
    """The log as if it came to be while the teller looks: `_began` is before its first event."""
    store, bus = EventStore(open_and_migrate_database(tmp_path / "t.sqlite")), Bus()
    async with httpx.AsyncClient(transport=httpx.MockTransport(collector)) as http:
        teller = TelemetryExporter("http://collector:4318/", store, bus, http, "here")
        teller._began = teller._told_at = log[0].at - 1
        parts = (log[: len(log) // 2], log[len(log) // 2 :]) if halves else (log,)
        for part in parts:
            store.append(part)
            bus.publish(part)
            await teller.export_next_batch_and_check_nothing_refused()
        yield teller
        await teller.close()


async def test_a_collector_gets_every_span_once_however_it_is_cut(tmp_path, log):
    collector = Collector()
    async for teller in telling(tmp_path, log, collector, halves=True):
        await teller.export_next_batch_and_check_nothing_refused()
    trace = RunTrace(log[0].run)
    wanted = [
        one.id for recorded in log for one in trace.fold_event_and_iterate_finished(recorded) if isinstance(one, Span)
    ]
    got = [span["spanId"] for span in collector.spans()]
    assert got == wanted
    assert len(set(got)) == len(got)


async def test_histograms_hold_every_turn(tmp_path, log):
    collector = Collector()
    async for _ in telling(tmp_path, log, collector):
        pass
    turns = sum(isinstance(recorded.event, TurnStarted) for recorded in log)
    points = collector.points("gen_ai.client.operation.duration")
    assert sum(int(point["count"]) for point in points) == turns
    for point in points:
        assert sum(map(int, point["bucketCounts"])) == int(point["count"])
        assert len(point["bucketCounts"]) == len(point["explicitBounds"]) + 1


async def test_while_the_collector_is_gone_it_is_said_once_and_told_later(tmp_path, log, caplog):
    collector = Collector()
    collector.up = False
    async for teller in telling(tmp_path, log, collector):
        await teller.export_next_batch_and_check_nothing_refused()
        assert [record.getMessage().count("does not accept telemetry") for record in caplog.records] == [1]
        collector.up = True
        await teller.export_next_batch_and_check_nothing_refused()
    names = [span["name"] for span in collector.spans()]
    assert "harden fixture" in names


async def test_what_was_over_before_is_another_process_to_tell(tmp_path, log):
    collector = Collector()
    async for teller in telling(tmp_path, [log[0]], collector):
        teller._began = log[-1].at + 1
        rest = log[1:]
        teller._store.append(rest)
        teller._bus.publish(rest)
        await teller.export_next_batch_and_check_nothing_refused()
    assert collector.spans() == []


def hold_many(teller, log):
    """Leave two batches and a half of spans and of measures to be sent."""
    trace = RunTrace(log[0].run)
    found = [one for recorded in log for one in trace.fold_event_and_iterate_finished(recorded)]
    for held, kind in ((teller._spans, Span), (teller._measures, Measure)):
        held.extend([next(one for one in found if isinstance(one, kind))] * (2 * BATCH + BATCH // 2))


async def test_at_the_end_all_that_is_held_is_sent(tmp_path, log):
    collector = Collector()
    async for teller in telling(tmp_path, log, collector):
        hold_many(teller, log)
        before = len(collector.spans())
    assert len(collector.spans()) - before == 2 * BATCH + BATCH // 2
    assert (len(teller._spans), len(teller._measures)) == (0, 0)


async def test_at_the_end_a_collector_that_is_gone_is_asked_once(tmp_path, log):
    collector, asked = Collector(), []
    async for teller in telling(tmp_path, log, lambda request: asked.append(request) or collector(request)):
        hold_many(teller, log)
        collector.up = False
        asked.clear()
    assert len(asked) == 1


async def test_the_end_does_not_wait_long_for_a_collector_that_hangs(tmp_path, log, monkeypatch):
    monkeypatch.setattr(exporter, "PATIENCE", 0.05)
    hangs = asyncio.Event()

    async def answer(_):
        if hangs.is_set():
            await asyncio.Event().wait()
        return httpx.Response(200, json={})

    async with asyncio.timeout(20):
        async for teller in telling(tmp_path, log, answer):
            hold_many(teller, log)
            hangs.set()
    assert len(teller._spans) >= 2 * BATCH


class NoticedLock:
    """A lock that says when somebody has to wait for it."""

    def __init__(self, waited):
        self._lock, self._waited = threading.Lock(), waited

    def __enter__(self):
        if not self._lock.acquire(blocking=False):
            self._waited.set()
            self._lock.acquire()

    def __exit__(self, *_):
        self._lock.release()


class SlowStore:
    """A store whose first reader goes on when a second one reads, or waits for the first."""

    def __init__(self, store):
        self._store, self.reading, self.second = store, threading.Event(), threading.Event()

    def read_events(self, *words):
        if self.reading.is_set():
            self.second.set()
        else:
            self.reading.set()
            assert self.second.wait(20)
        return self._store.read_events(*words)


async def test_a_task_that_ends_in_the_middle_of_its_reading_doubles_nothing(tmp_path, log):
    store, bus, collector = EventStore(open_and_migrate_database(tmp_path / "t.sqlite")), Bus(), Collector()
    store.append(log)
    bus.publish(log)
    slow = SlowStore(store)
    async with httpx.AsyncClient(transport=httpx.MockTransport(collector)) as http:
        teller = TelemetryExporter("http://collector:4318/", slow, bus, http, "here")
        teller._began, teller._buffering = log[0].at - 1, NoticedLock(slow.second)
        teller.start()
        assert await asyncio.to_thread(slow.reading.wait, 20)
        await teller.close()
    await asyncio.get_running_loop().shutdown_default_executor()  # no thread of the ended task is left
    got = [span["spanId"] for span in collector.spans()] + [span.id for span in teller._spans]
    assert got
    assert len(set(got)) == len(got)
