"""Listening: the socket, how much may be connected to it, and uvicorn over both."""

import asyncio
import ipaddress
import logging
import resource
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial

import uvicorn
from fastapi import FastAPI

from app.config import Network, Settings
from app.errors import BadInput, Unusable
from app.web.access.connections import Connections
from app.web.access.line import HttpLine, HttpTimeouts
from app.web.access.quiet_log import QuietLog

CLOSE_SECONDS = 1
TICK_SECONDS = 1.0
BACKLOG, AT_ONCE = 2048, 32
"""Who connects waits in the kernel; so many at a time are taken from there before others are served again."""
FILES = 65536


def networks(said: Sequence[str]) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(one) for one in said)
    except ValueError as exc:
        raise BadInput(f"--proxy takes an address or a network, such as 192.0.2.10 or 192.0.2.0/24: {exc}.") from exc


def opened_socket(settings: Settings) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Viewers' sockets inherit it: asyncio leaves Nagle's delay, up to 40 ms a frame, on a socket that is not its own.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)  # who connects before the application is up waits, and is not refused
    except OSError as exc:
        listener.close()
        raise Unusable(
            f"cannot listen on {settings.host}:{settings.port}: {exc.strerror}. Choose another with --port."
        ) from exc
    return listener


def open_files() -> int:
    """As many as this process may hold open from now on: the soft limit is usually a thousand, the hard one is not."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def made(application: FastAPI, settings: Settings, end_streams: Callable[[], None]) -> "Server":
    crowd = Connections.of(open_files(), settings.proxies, only_operators=settings.demo)
    config = uvicorn.Config(
        application,
        http=partial(HttpLine, crowd, HttpTimeouts()),  # type: ignore[arg-type]  # called like the class
        ws="none",
        backlog=AT_ONCE,
        log_level="warning",
        timeout_graceful_shutdown=CLOSE_SECONDS,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[str(one) for one in settings.proxies],
    )
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(QuietLog())
    return Server(config, end_streams)


class Server(uvicorn.Server):
    """Uvicorn raises the signal again once it has served; ours ends in order, with the worker closed behind it."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._told = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(BACKLOG)  # asyncio takes the length of the queue for the number to take from it at a time

    async def main_loop(self) -> None:
        """Uvicorn asks ten times a second whether it shall end; ours is told, and wakes once a second for the time."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                await asyncio.wait_for(self._told.wait(), TICK_SECONDS)

    def end(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._told.set()
        self._end_streams()  # a stream never ends by itself, and the server waits for its answers
