"""`temper serve`, `temper demo` and `temper worker`: run until a signal."""

import asyncio
import gc
import signal
import socket
from collections.abc import Awaitable, Callable

from sqlmodel import Session

from app.background.tasks import background_tasks
from app.cli.listening import made, opened_socket
from app.cli.opening import chosen_lineup, opened
from app.config import Settings
from app.errors import Unusable
from app.lineups.model import Lineup
from app.main import create_app
from app.runs.order import Order, queued
from app.runtime.runtime import Runtime
from app.store import people, queries
from app.store.db import open_database

Beside = Callable[[Runtime], Awaitable[None]]
"""A task that runs beside the server and may end before it."""


async def serve_until_told(settings: Settings, *, first: Order | None = None, beside: Beside | None = None) -> None:
    """Serve the application until SIGINT or SIGTERM. Submit `first` at the start, if given."""
    lineup = chosen_lineup(settings)
    _somebody_may_come_in(settings)
    listener = opened_socket(settings)
    with listener:
        port = listener.getsockname()[1]
        async with opened(settings, lineup) as runtime:
            if first:
                await _begin(runtime, lineup, first)
            print(f"Temper is at http://{settings.host}:{port}", flush=True)  # noqa: T201
            telling = asyncio.ensure_future(beside(runtime)) if beside else None
            await _serve(runtime, listener)
            if telling:
                telling.cancel()
                await asyncio.wait({telling})
            await runtime.writer.flush()  # raises the reason if the log is broken


def _somebody_may_come_in(settings: Settings) -> None:
    if settings.demo:
        return
    database = open_database(settings.database)
    with Session(database) as session:
        admins = people.admins(session)
    database.dispose()
    if not admins:
        raise Unusable(
            f"nobody could sign in: make the first admin with `temper admin create NAME --data {settings.data}`, "
            "then start again. Without sign-in Temper serves loopback only."
        )


async def work_until_told(settings: Settings) -> None:
    """Run a node without the web application until SIGINT or SIGTERM."""
    lineup = chosen_lineup(settings)
    told = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, told.set)
    async with opened(settings, lineup) as runtime:
        print(f"Temper works on runs as {runtime.name}", flush=True)  # noqa: T201
        async with background_tasks(runtime):
            _spare_what_stays()
            await _first(told, runtime.writer.broken)
        await runtime.writer.flush()  # raises the reason if the log is broken


def _spare_what_stays() -> None:
    """Exclude all present objects from garbage collection; scanning them took a tenth of a run's CPU time."""
    gc.collect()
    gc.freeze()


async def _first(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


async def _begin(runtime: Runtime, lineup: Lineup, order: Order) -> None:
    """Submit the order unless the host has an unended run, which resumes by itself."""
    with Session(runtime.database) as session:
        if queries.unended(session, order.host):
            return
    await runtime.submit(queued(order, lineup, runtime.settings.hosts))


async def _serve(runtime: Runtime, listener: socket.socket) -> None:
    application = create_app(runtime)
    server = made(application, runtime.settings, application.state.streams.close)
    gc.freeze()  # a full collection would stop every stream for 0.1 s
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, server.end)
    _spare_what_stays()
    watching = asyncio.create_task(_end_with(runtime.writer.broken, server.end), name="log watcher")
    await server.serve(sockets=[listener])
    watching.cancel()


async def _end_with(event: asyncio.Event, end: Callable[[], None]) -> None:
    """Stop the process when its log is broken, so that a supervisor can restart it."""
    await event.wait()
    end()
