"""Whoever waits for an engine is told of on every door, and nobody waits behind the back of the page."""

import asyncio
import re

import httpx

from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.engines.queue import TurnRequest
from app.engines.replica_choice import ReplicaReport
from app.main import create_app

ENGINE = "gemma-31b"


async def _holds(queue, bases, wanted, called):
    async with queue.hold_turn(bases, wanted):
        called.set()
        await asyncio.Event().wait()


async def test_who_waits_for_an_engine_is_on_page_api_and_metrics(tmp_path):
    settings = Settings(data=tmp_path / "data", speed=0)
    async with open_runtime(settings, load_lineup(settings)) as runtime:
        bases, queue, called = runtime.bases[ENGINE], runtime.queues.get_queue(ENGINE), asyncio.Event()
        runtime.traffic.reports[bases[0]] = ReplicaReport(kv_tokens=14_664, kv_used=0)
        first = asyncio.create_task(_holds(queue, bases, TurnRequest("a", "plan", 14_000, 300.0), called))
        await called.wait()
        others = [
            asyncio.create_task(_holds(queue, bases, TurnRequest(host, "plan", 3000, 300.0), asyncio.Event()))
            for host in "bcd"
        ]
        transport = httpx.ASGITransport(create_app(runtime))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
            engine = (await http.get(f"/api/v1/engines/{ENGINE}")).json()
            metrics, machine, ops = [(await http.get(path)).text for path in ("/metrics", "/machine", "/ops")]
        for task in (first, *others):
            task.cancel()
        await asyncio.gather(first, *others, return_exceptions=True)
        assert queue.status.waiting == 0
    assert engine["turns_waiting"] == 3
    assert engine["longest_wait"]["provenance"] == "measured"
    assert engine["waits_for"] == "its KV cache holds 14,664 tokens"
    assert f'temper_queue_turns_waiting{{engine="{ENGINE}"}} 3.0' in metrics
    assert f'temper_queue_wait_seconds_bucket{{engine="{ENGINE}",le="+Inf"}} 1.0' in metrics
    for page in (machine, ops):
        assert re.search(r"3 wait, longest \d+ s", page)
