"""Chunks that go straight to a real socket, while the application and the transport send on the same line."""

import asyncio
import os

import pytest

from app.web.access.direct_socket_writer import DirectSocketWriter
from tests.web.access.test_connection_deadlines import serving

MORE_THAN_FITS = 2**16
"""Chunks: more than any socket and transport hold."""


def chunk(number: int, size: int = 1000) -> bytes:
    body = b"%06d" % number + b"." * (size - 7) + b"\n"
    return b"%x\r\n%b\r\n" % (len(body), body)


def body(number: int, size: int = 1000) -> dict[str, object]:
    return {"type": "http.response.body", "body": chunk(number, size).split(b"\r\n")[1], "more_body": True}


async def began(scope, send):
    await send({"type": "http.response.start", "status": 200, "headers": []})
    return scope["state"]["line"], scope["state"]["line"].find_direct_writer()


async def read_on(reader):
    """The numbers of the lines that came, unframed."""
    await reader.readuntil(b"\r\n\r\n")
    found = []
    while length := int(await reader.readline(), 16):
        found.append(int((await reader.readexactly(length + 2))[:6]))
    return found


async def numbers(application, told):
    """Of who asks, and reads no earlier than it is told, or than the application has broken off."""

    async def served(scope, receive, send):
        try:
            await application(scope, receive, send)
        finally:
            told.set()

    async with serving(served=served) as connect:
        reader, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await told.wait()
        found = await asyncio.wait_for(read_on(reader), 10)
        writer.close()
    return found


async def test_what_the_socket_has_no_room_for_waits_in_its_place():
    sent, refused, full = [], [], asyncio.Event()

    async def application(scope, _receive, send):
        line, way = await began(scope, send)
        while True:
            assert len(sent) < MORE_THAN_FITS, "it was never full"
            piece = chunk(len(sent))
            try:
                taken = way.write(piece)
            except BlockingIOError:
                taken = 0
                refused.append(len(sent))
            if taken != len(piece) and not way.buffer_rest(piece[taken:]):
                break
            sent.append(taken == len(piece))
        assert not line.can_write_directly()
        full.set()
        await send(body(len(sent)))
        await send({"type": "http.response.body"})

    assert await numbers(application, full) == list(range(len(sent) + 1))
    assert sent[0] is True, "nothing went out straight"
    assert sent[-1] is False, "nothing had to wait"
    assert len(refused) <= 1, "the socket was tried though something waited before it"


async def test_nothing_overtakes_what_the_application_sends():
    told, straight = asyncio.Event(), []

    async def application(scope, _receive, send):
        _, way = await began(scope, send)
        with way.pause_direct_writes():
            await send(body(0, 2**22))
        straight.append(way.write(chunk(9)))
        assert way.buffer_rest(chunk(9)) is False
        told.set()
        with way.pause_direct_writes():
            straight.append(way.write(chunk(9)))
            await send(body(1))
        while not way.write(chunk(2)):
            assert way.keep(b"") is not None
            await asyncio.sleep(0)
        await send({"type": "http.response.body"})

    assert await numbers(application, told) == [0, 1, 2]
    assert straight == [0, 0]


async def test_a_line_that_is_gone_never_writes_to_its_descriptor_again():
    ways, lost = [], asyncio.Event()

    async def application(scope, receive, send):
        _, way = await began(scope, send)
        ways.append(way)
        assert (await receive())["type"] == "http.request"
        assert (await receive())["type"] == "http.disconnect"
        lost.set()

    async with serving(served=application) as connect:
        reader, writer = await connect()
        writer.write(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        await reader.readuntil(b"\r\n\r\n")
        writer.transport.abort()
        await lost.wait()
        (way,) = ways
        assert way.write(chunk(1)) == 0
        assert way.buffer_rest(chunk(1)) is False
        with way.pause_direct_writes():
            pass
        assert way.write(chunk(1)) == 0


@pytest.mark.parametrize("sends", [1, 2])
def test_it_is_straight_again_once_the_last_who_sends_is_through_and_never_after_the_end(sends):
    class Line:
        def can_write_directly(self):
            return True

        def try_write_chunk(self, _):
            return True

    read, write = os.pipe()
    way = DirectSocketWriter(Line(), write)
    aside = [way.pause_direct_writes() for _ in range(sends)]
    for one in aside:
        one.__enter__()
    for one in aside:
        assert way.write(b"early") == 0
        one.__exit__(None, None, None)
    assert way.write(b"late") == 4
    assert os.read(read, 100) == b"late"
    way.discard_writes_after_connection_loss()
    with way.pause_direct_writes():
        pass
    assert way.write(b"never") == 0, "the descriptor may be another's"
    os.close(read)
    os.close(write)
