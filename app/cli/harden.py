"""`temper run`: request a run, work on it unless another process does, and follow it to its end."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from sqlmodel import Session

from app.cli.opening import chosen_lineup, opened
from app.cli.progress import Progress
from app.cli.shared_hosts import caught_up
from app.config import Settings
from app.events.bus import Bus
from app.events.kinds import RunFailed, RunFinished, RunQueued, RunStopped
from app.events.log import LogWriter, RunLog
from app.events.record import Recorded
from app.loop.durable import enqueue_from_outside
from app.loop.state import RunState, step
from app.runs.order import Order, queued
from app.runtime.lock import Taken
from app.runtime.runtime import new_run_id
from app.store import nodes
from app.store.db import open_database
from app.store.events import EventStore

ALL_PASSED, COULD_NOT, SOME_DID_NOT = 0, 1, 2
LOOK_EVERY = 0.05


async def harden(settings: Settings, order: Order, *, as_json: bool) -> int:
    lineup = chosen_lineup(settings)
    await asyncio.to_thread(caught_up, settings)
    request = queued(order, lineup, settings.hosts)
    try:
        await asyncio.to_thread(unless_others_work, settings)
        async with opened(settings, lineup) as runtime:
            run = runtime.same_unended(request) or await runtime.submit(request)
            return await _follow(runtime.store, run, as_json=as_json)
    except Taken as exc:
        print(f"temper: {exc}; the run is handed to it", file=sys.stderr)  # noqa: T201
        async with _handed_over(settings, request) as (store, run):
            return await _follow(store, run, as_json=as_json)


def unless_others_work(settings: Settings) -> None:
    if not settings.database_url:
        return
    database = open_database(settings.database)
    try:
        with Session(database) as session:
            if others := nodes.at_work(session):
                raise Taken(f"{others[0].name} and {len(others)} in all work on this database")
    finally:
        database.dispose()


@asynccontextmanager
async def _handed_over(settings: Settings, request: RunQueued) -> AsyncIterator[tuple[EventStore, str]]:
    database = open_database(settings.database)
    store, run = EventStore(database), new_run_id()
    writer = LogWriter(store, Bus())
    writer.start()
    RunLog(run, writer).append(request)
    await writer.close()
    await asyncio.to_thread(enqueue_from_outside, settings.queue, run, request.host)
    try:
        yield store, run
    finally:
        database.dispose()


async def _follow(store: EventStore, run: str, *, as_json: bool) -> int:
    show: Callable[[Recorded, RunState], None]
    state = RunState()
    with Progress(run) as progress:
        show = _print_line if as_json else progress.show
        async for recorded in _events(store, run):
            state = step(state, recorded)
            show(recorded, state)
    return exit_code(state)


async def _events(store: EventStore, run: str) -> AsyncIterator[Recorded]:
    seq = 0
    while True:
        batch = await asyncio.to_thread(_after, store, run, seq)
        for recorded in batch:
            seq = recorded.seq
            yield recorded
            if isinstance(recorded.event, RunFinished | RunFailed | RunStopped):
                return
        await asyncio.sleep(LOOK_EVERY)


def _after(store: EventStore, run: str, seq: int) -> list[Recorded]:
    return list(store.events(run, after=seq))


def _print_line(recorded: Recorded, _: RunState) -> None:
    sys.stdout.write(recorded.line.decode() + "\n")
    sys.stdout.flush()


def exit_code(state: RunState) -> int:
    if state.status != "finished":
        return COULD_NOT
    passed = all(item.status == "passed" for item in state.items.values())
    return ALL_PASSED if passed and not _undecided(state) else SOME_DID_NOT


def _undecided(state: RunState) -> bool:
    return bool(state.scope and state.scope.undecided)
