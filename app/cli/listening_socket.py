"""Open the listening socket, limit its connections and create the uvicorn server."""

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
from app.errors import BadInput, EnvironmentUnusable
from app.web.access.connection_deadlines import HttpTimeouts, TimeoutH11Protocol
from app.web.access.connection_limiter import ConnectionLimiter
from app.web.access.log_rate_limit import RepeatedLogFilter

CLOSE_SECONDS = 1
TICK_SECONDS = 1.0
BACKLOG, AT_ONCE = 2048, 32
"""Length of the kernel's accept queue, and connections accepted at a time before others are served."""
FILES = 65536


def parse_trusted_proxies(addresses: Sequence[str]) -> tuple[Network, ...]:
    try:
        return tuple(ipaddress.ip_network(one) for one in addresses)
    except ValueError as exc:
        raise BadInput(f"--proxy requires an address or a network, such as 192.0.2.10 or 192.0.2.0/24: {exc}.") from exc


def bind_listening_socket(settings: Settings) -> socket.socket:
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    # Accepted sockets inherit TCP_NODELAY. asyncio does not set it on a listener it did not create: 40 ms a frame.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        listener.bind((settings.host, settings.port))
        listener.listen(BACKLOG)  # clients that connect before the application starts wait instead of being refused
    except OSError as exc:
        listener.close()
        raise EnvironmentUnusable(
            f"cannot listen on {settings.host}:{settings.port}: {exc.strerror}. Choose another with --port."
        ) from exc
    return listener


def raise_file_limit() -> int:
    """Raise the limit of open files up to the hard limit and return it. The soft limit is usually 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
    if wanted > soft:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def create_server(application: FastAPI, settings: Settings, end_streams: Callable[[], None]) -> "Server":
    crowd = ConnectionLimiter.create(raise_file_limit(), settings.proxies, only_operators=settings.is_sign_in_off)
    config = uvicorn.Config(
        application,
        http=partial(TimeoutH11Protocol, crowd, HttpTimeouts()),  # type: ignore[arg-type]  # uvicorn calls it like the class
        ws="none",
        backlog=AT_ONCE,
        log_config=None,  # the process's own, whatever it is
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=CLOSE_SECONDS,
        proxy_headers=bool(settings.proxies),
        forwarded_allow_ips=[str(one) for one in settings.proxies],
    )
    for name in ("uvicorn.error", "asyncio"):
        logging.getLogger(name).addFilter(RepeatedLogFilter())
    return Server(config, end_streams)


class Server(uvicorn.Server):
    """A uvicorn server that handles no signals itself, so that the worker closes in order after it."""

    def __init__(self, config: uvicorn.Config, end_streams: Callable[[], None]) -> None:
        super().__init__(config)
        self._end_streams = end_streams
        self._exit_requested = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(BACKLOG)  # asyncio uses one number for the queue's length and for the accepts at a time

    async def main_loop(self) -> None:
        """Wait for an exit request; wake once a second for uvicorn's clock instead of ten times a second."""
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._exit_requested.wait()

    def request_exit(self) -> None:
        self.force_exit = self.should_exit
        self.should_exit = True
        self._exit_requested.set()
        self._end_streams()  # streams never end by themselves, and the server waits for open responses
