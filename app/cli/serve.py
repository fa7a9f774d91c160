"""`temper serve`, `temper demo` and `temper worker`: run until a signal."""

import asyncio
import gc
import logging
import os
import signal
import socket
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from sqlmodel import Session

from app import __version__
from app.background.tasks_of_process import open_background_tasks
from app.cli.database_access import open_or_create_database
from app.cli.listening_socket import bind_listening_socket, create_server
from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.engines.endpoint_lineup import KEY_VARIABLE
from app.errors import EnvironmentUnusable
from app.lineups.model import Lineup
from app.main import create_app
from app.runs.order import Order, create_run_request
from app.runtime.model_server_chosen_by_admin import LINEUP_FILE, LineupChange
from app.runtime.runtime import Runtime
from app.store import people, run_queries
from app.store.db import is_shared

log = logging.getLogger(__name__)

CHANGE_SECONDS = 1.0
"""Seconds between looks for a run in progress while a line-up waits for its end."""

SideTask = Callable[[Runtime], Awaitable[None]]
"""A task that runs beside the server and may end before it."""


async def serve_until_signal(
    settings: Settings, *, first_order: Order | None = None, side_task: SideTask | None = None
) -> None:
    """Serve the application until SIGINT or SIGTERM. Submit `first_order` at the start, if given."""
    began = time.monotonic()
    lineup = load_lineup(settings)
    _require_admin(settings)
    listener = bind_listening_socket(settings)
    stored = str((settings.data / LINEUP_FILE).resolve())
    start = Settings.lineup if settings.lineup == stored else settings.lineup
    stopped = asyncio.Event()  # of all line-ups: a signal may come between two of them
    with listener:
        change = await _serve_lineup(settings, lineup, listener, stopped, first_order, side_task)
        while change and not stopped.is_set():
            settings, lineup = _apply_lineup_change(settings, change, start)
            change = await _serve_lineup(settings, lineup, listener, stopped)
    _log_stop(began)


async def _serve_lineup(
    settings: Settings,
    lineup: Lineup,
    listener: socket.socket,
    stopped: asyncio.Event,
    first_order: Order | None = None,
    side_task: SideTask | None = None,
) -> LineupChange | None:
    """Serve with one line-up until `stopped` is set or another one is chosen. Return the change to it, if any."""
    port = listener.getsockname()[1]
    async with open_runtime(settings, lineup) as runtime:
        if first_order:
            await _submit_order_unless_host_has_unended_run(runtime, lineup, first_order)
        _log_start(runtime, f"Temper is at http://{settings.host}:{port}", address=settings.host, port=port)
        telling = asyncio.ensure_future(side_task(runtime)) if side_task else None
        if not stopped.is_set():
            await _serve_until_signal_or_lineup_change(runtime, listener, stopped)
        if telling:
            telling.cancel()
            await asyncio.wait({telling})
        await runtime.writer.flush()  # raises the reason if the log is broken
        return runtime.own_server.change


def _apply_lineup_change(settings: Settings, change: LineupChange, initial_lineup: str) -> tuple[Settings, Lineup]:
    """Return settings and line-up after a change. The key is kept where the command line's is: in the environment."""
    if change.key:
        os.environ[KEY_VARIABLE] = change.key
    gc.unfreeze()  # the parts of the old line-up are collected like anything else
    settings = replace(settings, lineup=change.path or initial_lineup)
    return settings, load_lineup(settings)


def _log_start(runtime: Runtime, greeting: str, **where: object) -> None:
    """Log that this process serves or works. Print the greeting too, unless the log is JSON."""
    settings = runtime.settings
    known = {
        "version": __version__,
        "kind": settings.kind,
        "node": runtime.name.removeprefix("worker "),
        "database": "postgresql" if is_shared(runtime.database) else "sqlite",
        "data": str(settings.data),
        "lineup": runtime.lineup.name,
        "sign_in": not settings.is_sign_in_off,
    }
    log.info("server started", extra={**where, **known})
    if settings.log_format == "text":
        print(greeting, flush=True)  # noqa: T201


def _log_stop(started_at: float) -> None:
    log.info("server stopped", extra={"uptime_s": round(time.monotonic() - started_at, 1)})


def _require_admin(settings: Settings) -> None:
    if settings.is_sign_in_off:
        return
    with open_or_create_database(settings) as database, Session(database) as session:
        admins = people.count_enabled_admins(session)
    if not admins:
        way_on = f"Create one with `temper admin create NAME --data {settings.data}`, then start again."
        only = "Without sign-in Temper serves only loopback."
        raise EnvironmentUnusable(f"no admin exists, so sign-in is impossible. {way_on} {only}")


async def work_until_signal(settings: Settings) -> None:
    """Run a node without the web application until SIGINT or SIGTERM."""
    began = time.monotonic()
    lineup = load_lineup(settings)
    stopped = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, partial(_log_reason_and_end, number.name, stopped.set))
    async with open_runtime(settings, lineup) as runtime:
        _log_start(runtime, f"Temper works on runs as {runtime.name}")
        async with open_background_tasks(runtime):
            _freeze_heap()
            await _wait_for_any(stopped, runtime.writer.broken)
        await runtime.writer.flush()  # raises the reason if the log is broken
    _log_stop(began)


def _log_reason_and_end(reason: str, request_exit: Callable[[], None]) -> None:
    log.info("server stopping", extra={"reason": reason})
    request_exit()


def _freeze_heap() -> None:
    """Exclude all present objects from garbage collection; scanning them took a tenth of a run's CPU time."""
    gc.collect()
    gc.freeze()


async def _wait_for_any(*events: asyncio.Event) -> None:
    waiting = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    for task in waiting:
        task.cancel()


async def _submit_order_unless_host_has_unended_run(runtime: Runtime, lineup: Lineup, order: Order) -> None:
    """Submit the order unless the host has an unended run, which resumes by itself."""
    with Session(runtime.database) as session:
        if run_queries.list_unended_runs(session, order.host):
            return
    await runtime.submit_run(create_run_request(order, lineup, runtime.settings.hosts_folder))


async def _serve_until_signal_or_lineup_change(
    runtime: Runtime, listener: socket.socket, stopped: asyncio.Event
) -> None:
    """Serve until a signal, a broken log or a change of line-up. Set `stopped` at the first two, also afterwards."""
    application = create_app(runtime)
    server = create_server(application, runtime.settings, application.state.streams.close)
    gc.freeze()  # a full collection would stop every stream for 0.1 s

    def end_on_signal() -> None:
        stopped.set()
        server.request_exit()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, partial(_log_reason_and_end, number.name, end_on_signal))
    _freeze_heap()
    watching = [
        asyncio.create_task(_end_on_broken_log(runtime.writer.broken, end_on_signal), name="log watcher"),
        asyncio.create_task(
            _end_for_chosen_lineup_after_last_run(runtime, server.request_exit), name="line-up watcher"
        ),
    ]
    await server.serve(sockets=[listener.dup()])  # it closes what it is given, and the next line-up needs the port
    for one in watching:
        one.cancel()


async def _end_for_chosen_lineup_after_last_run(runtime: Runtime, request_exit: Callable[[], None]) -> None:
    """End the server for another line-up once no run is in progress, so that each run keeps the one it began with."""
    await runtime.own_server.requested.wait()
    while True:
        version = runtime.changes.version()
        if await asyncio.to_thread(runtime.has_no_unended_runs):
            break
        await runtime.changes.wait_for_change(version, CHANGE_SECONDS)
    _log_reason_and_end("another line-up was chosen", request_exit)


async def _end_on_broken_log(broken: asyncio.Event, request_exit: Callable[[], None]) -> None:
    """Stop the process when its log is broken, so that a supervisor can restart it."""
    await broken.wait()
    _log_reason_and_end("the log of events cannot be written", request_exit)
