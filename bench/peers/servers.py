"""Servers that send a 200-byte frame to all who listen for each POST. One per process, on a port of its own.

    python bench/peers/servers.py raw|nchan|hub|ring

raw    an asyncio TCP server without HTTP: the floor
nchan  Debian's nginx with libnginx-mod-nchan: the peer
hub    Temper's own: app.web.stream under uvicorn
ring   the same ring read by a task for each viewer, through sse-starlette: the design that was not taken

All of them have the same publisher, a process beside them: bench/peers/publisher.py.
"""

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from pathlib import Path

import uvicorn
from sse_starlette import EventSourceResponse
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app.cli.listening_socket import AT_ONCE, BACKLOG
from app.events.bus import Bus
from app.events.kinds import TurnDelta
from app.events.record import Recorded, build_recorded_event
from app.web.access.connection_deadlines import HttpTimeouts, TimeoutH11Protocol
from app.web.access.connection_limiter import ConnectionLimiter
from app.web.stream.fanout import Fanout
from app.web.stream.renderer_types import PerEventRender
from app.web.stream.sse_messages import encode_message
from app.web.stream.stream_registry import StreamRegistry

PUBLISHER = Path(__file__).with_name("publisher.py")
POSTED = re.compile(rb"Content-Length: (\d+)\r\n\r\n")
SIZE = 200


def frame(seq: int, at: int) -> bytes:
    """`at` is when it was to be published; the rest is padding."""
    bare = encode_message(b"%d " % at, seq=seq)
    return encode_message(b"%d " % at + b"x" * (SIZE - len(bare)), seq=seq)


class Door(asyncio.Protocol):
    """Where the publisher's POSTs come in, with no more of HTTP than it speaks."""

    def __init__(self, publish: Callable[[int], None]) -> None:
        self._publish, self._held = publish, b""

    def connection_made(self, transport: asyncio.Transport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._held += data
        while (head := POSTED.search(self._held)) and len(self._held) >= head.end() + int(head[1]):
            body, self._held = self._held[head.end() :], self._held[head.end() + int(head[1]) :]
            self._publish(int(body.split(b" ", 1)[0]))
            answer = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            asyncio.get_running_loop().call_soon(self._transport.write, answer)  # the viewers first, as nchan does


@asynccontextmanager
async def published(publish: Callable[[int], None]):
    """`publish` is told of each POST when it was due, for as long as this lasts."""
    door = await asyncio.get_running_loop().create_server(lambda: Door(publish), "127.0.0.1", 0)
    publisher = await asyncio.create_subprocess_exec(sys.executable, PUBLISHER, str(door.sockets[0].getsockname()[1]))
    try:
        yield
    finally:
        publisher.kill()
        await publisher.wait()
        door.close()


def announce(port: int, *pids: int) -> None:
    print(port, *pids, flush=True)


async def raw() -> None:
    writers: set[asyncio.StreamWriter] = set()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n: hello\n\n")
        writers.add(writer)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, backlog=2048)
    seqs = count(1)

    def publish(due: int) -> None:
        body = frame(next(seqs), due)
        for writer in writers:
            writer.write(body)

    async with published(publish):
        announce(server.sockets[0].getsockname()[1], os.getpid())
        await server.serve_forever()


class Ticks:
    """A log that grows by one event at a time, in memory."""

    def __init__(self) -> None:
        self.bus, self.events = Bus(), [self._event(1, time.monotonic_ns())]

    def _event(self, seq: int, at: int) -> Recorded:
        delta = TurnDelta(turn="t", role="worker", channel="answer", text=str(at), tokens=1)
        return build_recorded_event("bench", seq, time.time(), delta, "")

    def grow(self, due: int) -> None:
        self.events.append(self._event(len(self.events) + 1, due))
        self.bus.publish(self.events[-1:])

    def read_last_seq(self) -> int:
        return len(self.events)

    def read_after(self, seq: int, upto: int | None, limit: int) -> list[Recorded]:
        return self.events[seq : upto or len(self.events)][:limit]


class BenchStreams(StreamRegistry):
    """Streams over ticks instead of a database."""

    def __init__(self, ticks: Ticks) -> None:
        super().__init__(ticks.bus, None)
        self._ticks = ticks

    def create_fanout(self, run, render) -> Fanout:
        return Fanout(run, self._bus, self._ticks, render)


async def hub() -> None:
    ticks = Ticks()
    streams, frames = BenchStreams(ticks), PerEventRender(lambda one: frame(one.seq, int(one.event.text)))

    async def stream(_: Request) -> Response:
        return streams.create_stream_response("bench", "frames", frames)

    await serve(stream, ticks.grow)


async def ring() -> None:
    woken, frames, joined = asyncio.Event(), [], {}

    def grow(due: int) -> None:
        nonlocal woken
        frames.append(frame(len(frames) + 1, due))
        joined.clear()
        before, woken = woken, asyncio.Event()
        before.set()

    async def follow():
        cursor = len(frames)
        yield b": hello\n\n"
        while True:
            if cursor == len(frames):
                await woken.wait()
            if cursor not in joined:
                joined[cursor] = b"".join(frames[cursor:])
            missed, cursor = joined[cursor], len(frames)
            yield missed

    async def stream(_: Request) -> Response:
        return EventSourceResponse(follow(), sep="\n")

    await serve(stream, grow)


class ServerThatQueues(uvicorn.Server):
    async def startup(self, sockets=None) -> None:
        await super().startup(sockets)
        for one in sockets:
            one.listen(BACKLOG)


async def serve(endpoint, publish: Callable[[int], None]) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as Temper's own; asyncio leaves it out here
    application = Starlette(routes=[Route("/sub", endpoint)])
    line = partial(TimeoutH11Protocol, ConnectionLimiter.create(65536, only_operators=True), HttpTimeouts())
    config = uvicorn.Config(application, http=line, log_level="warning", lifespan="off", backlog=AT_ONCE)
    server = ServerThatQueues(config)
    async with published(publish):
        announce(listener.getsockname()[1], os.getpid())
        await server.serve(sockets=[listener])


NCHAN = """
load_module /usr/lib/nginx/modules/ngx_nchan_module.so;
daemon off; master_process off; worker_rlimit_nofile 16384; pid {folder}/pid; error_log {folder}/error.log crit;
events {{ worker_connections 8192; }}
http {{
  access_log off; client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/f; uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
  server {{
    listen 127.0.0.1:{port} backlog=2048;
    location = /sub {{ nchan_subscriber eventsource; nchan_channel_id bench; nchan_subscriber_first_message newest; }}
    location = /pub {{ nchan_publisher; nchan_channel_id bench; nchan_message_buffer_length 20; }}
  }}
}}
"""


def nchan() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored where the bench runs in the background
    with tempfile.TemporaryDirectory() as name, socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
        free.close()
        config = Path(name, "nginx.conf")
        config.write_text(NCHAN.format(folder=name, port=port))
        with subprocess.Popen(["nginx", "-p", name, "-c", str(config)]) as nginx:
            await_listener(port)
            with subprocess.Popen([sys.executable, PUBLISHER, str(port)]) as publisher:
                with contextlib.suppress(KeyboardInterrupt):
                    announce(port, nginx.pid)
                    signal.pause()
                publisher.kill()
            nginx.terminate()


def await_listener(port: int) -> None:
    until = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind == "nchan":
        nchan()
    else:
        asyncio.run({"raw": raw, "hub": hub, "ring": ring}[kind]())
