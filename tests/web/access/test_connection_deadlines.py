"""A connection over a real socket: how slowly somebody may say what they want, and what becomes of too much."""

import asyncio
import socket
import time
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import partial

import pytest
import uvicorn
from fastapi.exceptions import HTTPException

from app.web.access.connection_deadlines import HttpTimeouts, TimeoutH11Protocol
from app.web.access.connection_limiter import ConnectionLimiter
from app.web.access.request_gate import limit_body

QUICK = HttpTimeouts(head=0.3, body=0.3, read=0.3, linger=0.3)
LARGE = 8 * 2**20


async def application(scope, receive, send):
    """Takes a body of a few bytes, and answers with as many as the address says."""
    status, hears, more = (
        200,
        limit_body(receive, 1000, dict(scope["headers"]).get(b"content-length", b"").decode()),
        True,
    )
    try:
        while more:
            more = (await hears())["more_body"]
    except HTTPException as exc:
        status = exc.status_code
    content = b"x" * int(scope["path"][1:] or 2)
    await send(
        {"type": "http.response.start", "status": status, "headers": [(b"content-length", b"%d" % len(content))]}
    )
    await send({"type": "http.response.body", "body": content[: len(content) // 2], "more_body": True})
    await send({"type": "http.response.body", "body": content[len(content) // 2 :]})


class Server(uvicorn.Server):
    capture_signals = nullcontext

    def __init__(self, config):
        super().__init__(config)
        self.up = asyncio.Event()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        self.up.set()


@asynccontextmanager
async def serving(patience=QUICK, crowd=None, served=application):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        line = partial(TimeoutH11Protocol, crowd or ConnectionLimiter(), patience)
        config = uvicorn.Config(served, http=line, ws="none", lifespan="off", log_level="critical")
        server = Server(config)
        task = asyncio.create_task(server.serve(sockets=[listener]))
        await server.up.wait()
        yield partial(asyncio.open_connection, "127.0.0.1", listener.getsockname()[1])
        server.should_exit = server.force_exit = True
        await task


async def drip(writer, piece):
    """For ever, a piece at a time, until whoever listens has gone."""
    try:
        while True:
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(0.02)
    except ConnectionError:
        return


async def ended_while_dripping(writer, reader, piece):
    begun = time.monotonic()
    dripping = asyncio.create_task(drip(writer, piece))
    with suppress(ConnectionError):
        await asyncio.wait_for(reader.read(), 5)
    dripping.cancel()
    await asyncio.wait({dripping})
    writer.transport.abort()
    return time.monotonic() - begun


async def test_a_head_that_drips_is_ended_and_so_is_silence():
    async with serving() as connect:
        reader, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nx-slow: ")
        assert 0.2 < await ended_while_dripping(writer, reader, b"y") < 3
        reader, writer = await connect()
        with suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), 3) == b""
        writer.transport.abort()


@pytest.mark.parametrize("length", [b"content-length: 900", b"transfer-encoding: chunked"])
async def test_a_body_that_drips_is_ended(length):
    async with serving() as connect:
        reader, writer = await connect()
        writer.write(b"POST / HTTP/1.1\r\nhost: x\r\n" + length + b"\r\n\r\n")
        piece = b"1\r\ny\r\n" if b"chunked" in length else b"y"
        assert 0.2 < await ended_while_dripping(writer, reader, piece) < 3


@pytest.mark.parametrize("length", [b"content-length: 99999999999", b"transfer-encoding: chunked"])
async def test_who_sends_too_much_is_told_so_and_then_no_longer_heard(length):
    async with serving() as connect:
        reader, writer = await connect()
        writer.write(b"POST / HTTP/1.1\r\nhost: x\r\n" + length + b"\r\n\r\n")
        writer.write(b"7d0\r\n" + b"y" * 2000 + b"\r\n")
        assert b" 413 " in await asyncio.wait_for(reader.readline(), 5)
        assert await ended_while_dripping(writer, reader, b"y" * 1000) < 3


async def test_an_honest_connection_is_used_again_and_again():
    async with serving(HttpTimeouts()) as connect:
        reader, writer = await connect()
        for _ in range(3):
            writer.write(b"POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\n\r\n")
            await writer.drain()
            writer.write(b"hello")
            assert b" 200 " in await reader.readuntil(b"\r\n\r\n")
            assert await reader.readexactly(2) == b"xx"
        writer.close()
        await writer.wait_closed()


async def test_a_stranger_who_does_not_read_is_ended_and_a_person_is_waited_for():
    async with serving() as connect:
        reader, writer = await connect(limit=1024)
        writer.write(b"GET /%d HTTP/1.1\r\nhost: x\r\n\r\n" % LARGE)
        transport = writer.transport
        transport.pause_reading()
        late = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_later(1.0, late.set_result, None)
        await late
        transport.resume_reading()
        with pytest.raises((ConnectionError, asyncio.IncompleteReadError)):
            await asyncio.wait_for(reader.readexactly(LARGE), 5)
        transport.abort()


async def test_connections_over_the_number_are_closed_at_once():
    crowd = ConnectionLimiter(of_a_peer=2)
    async with serving(HttpTimeouts(), crowd) as connect:
        opened = [await connect() for _ in range(4)]
        for reader, _ in opened[:2]:
            with suppress(ConnectionError):
                assert await asyncio.wait_for(reader.read(), 5) == b""
        opened[3][1].write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert b" 200 " in await opened[3][0].readline()
        for _, writer in opened:
            writer.transport.abort()


async def test_a_chunk_is_pushed_past_the_application_while_an_answer_is_under_way_and_the_socket_takes_it():
    took, full, over = [], asyncio.Event(), asyncio.Event()

    async def pushing(scope, _receive, send):
        line = scope["state"]["line"]
        await send({"type": "http.response.start", "status": 200, "headers": []})
        while line.try_write_chunk(b"400\r\n" + b"y" * 1024 + b"\r\n"):
            took.append(True)
        full.set()
        await send({"type": "http.response.body", "body": b"end"})
        took.append(line.try_write_chunk(b"1\r\nz\r\n"))
        over.set()

    async with serving(served=pushing) as connect:
        reader, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
        await full.wait()
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"transfer-encoding: chunked" in head.lower()
        body = await reader.read()
        await over.wait()
        writer.close()
    assert body.count(b"y") == 1024 * (len(took) - 1)
    assert body.endswith(b"3\r\nend\r\n0\r\n\r\n")
    assert took[-1] is False
