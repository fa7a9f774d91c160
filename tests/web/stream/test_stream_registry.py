"""Streams over real sockets: who leaves is forgotten, and the server ends at once however many watch."""

import asyncio
import signal
import time

import httpx

from tests.served import served

VIEWERS = 100


async def opened(server, run):
    """A viewer as raw bytes: what a client library would hide is part of what is tested."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    asked = f"GET /api/v1/runs/{run}/stream?since=0 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
    writer.write(asked.encode())
    await reader.readuntil(b": temper\n\n")
    return reader, writer


async def closed(writer):
    writer.close()
    await writer.wait_closed()


def waiting_run(server):
    """A run that waits for a person, so that its stream stays open."""
    order = {"host": "fixture", "rules": ["V-258227"], "mode": "review"}
    run = httpx.post(f"{server.url}/api/v1/runs", json=order).json()["id"]
    server.wait_for_kind("approval.requested")
    return run


async def test_a_hundred_viewers_do_not_hold_the_server_up(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server:
        run = await asyncio.to_thread(waiting_run, server)
        viewers = await asyncio.gather(*(opened(server, run) for _ in range(VIEWERS)))
        server.process.send_signal(signal.SIGTERM)
        rests = await asyncio.gather(*(reader.read() for reader, _ in viewers))
        await asyncio.gather(*(closed(writer) for _, writer in viewers))
        assert await asyncio.to_thread(server.process.wait, 15) == 0
        assert "Traceback" not in server.output()
        assert "exceeded" not in server.output(), "it waited for viewers until its patience was over"
    assert all(rest.endswith(b"0\r\n\r\n") for rest in rests), "an answer was cut off"


async def test_who_leaves_is_forgotten(tmp_path):
    with served(tmp_path / "data", "--speed", "0") as server:
        run = await asyncio.to_thread(waiting_run, server)
        (_, one), (reader, two) = await opened(server, run), await opened(server, run)
        assert viewers(server) == 2
        await closed(one)
        until = time.monotonic() + 10
        while viewers(server) != 1:
            assert time.monotonic() < until
        await asyncio.to_thread(httpx.post, f"{server.url}/api/v1/runs/{run}/stop")
        rest = await reader.readuntil(b"event: end")
        assert b"event: run.stopped" in rest
        await closed(two)


def viewers(server):
    lines = httpx.get(f"{server.url}/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith("temper_stream_viewers")).split()[1])
