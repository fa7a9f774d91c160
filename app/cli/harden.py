"""`temper run`: request a run, work on it unless another process does, and follow it to its end."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from sqlmodel import Session

from app.cli.command_runtime import load_lineup, open_runtime
from app.cli.progress import ProgressPrinter
from app.cli.shared_hosts import sync_host_folders
from app.config import Settings
from app.errors import BadInput
from app.events.bus import Bus
from app.events.kinds import RunEnd, RunQueued
from app.events.log import LogWriter, RunLog
from app.events.record import Recorded
from app.evidence.incoming.starting_point import read_starting_point
from app.loop.state import RunState, apply_event
from app.runs.order import Order, create_run_request
from app.runtime.data_folder import AlreadyInUse
from app.runtime.runtime import create_run_id
from app.skills.catalog import load_skill
from app.store import nodes
from app.store.clock import open_clock
from app.store.db import open_database
from app.store.events import EventStore

ALL_PASSED, COULD_NOT, SOME_DID_NOT = 0, 1, 2
LOOK_EVERY = 0.05


async def harden_host(settings: Settings, order: Order, *, as_json: bool) -> int:
    lineup = load_lineup(settings)
    await asyncio.to_thread(sync_host_folders, settings)
    request = create_run_request(order, lineup, settings.hosts_folder)
    try:
        await asyncio.to_thread(require_no_other_nodes, settings)
        async with open_runtime(settings, lineup) as runtime:
            run = runtime.find_same_unended(request) or await runtime.submit_run(request)
            return await _follow_run(runtime.store, run, as_json=as_json)
    except AlreadyInUse as exc:
        print(f"temper: {exc}; that process works on the run", file=sys.stderr)  # noqa: T201
        async with _hand_over_run(settings, request) as (store, run):
            return await _follow_run(store, run, as_json=as_json)


def require_no_other_nodes(settings: Settings) -> None:
    if not settings.database_url:
        return
    database = open_database(settings.database_location)
    try:
        with Session(database) as session:
            if others := nodes.list_responsive_nodes(session):
                raise AlreadyInUse(f"{others[0].name} works on this database (nodes: {len(others)})")
    finally:
        database.dispose()


@asynccontextmanager
async def _hand_over_run(settings: Settings, request: RunQueued) -> AsyncIterator[tuple[EventStore, str]]:
    database = open_database(settings.database_location)
    store, run, clock = EventStore(database), create_run_id(), await asyncio.to_thread(open_clock, database)
    writer = LogWriter(store, Bus())
    writer.start()
    RunLog(run, writer, clock=clock.now).append(request)
    await writer.close()
    try:
        yield store, run
    finally:
        database.dispose()


async def _follow_run(store: EventStore, run: str, *, as_json: bool) -> int:
    show: Callable[[Recorded, RunState], None]
    state = RunState()
    with ProgressPrinter(run) as progress:
        show = _print_event_json if as_json else progress.show
        async for recorded in _stream_events(store, run):
            state = apply_event(state, recorded)
            show(recorded, state)
    return run_exit_code(state)


async def _stream_events(store: EventStore, run: str) -> AsyncIterator[Recorded]:
    seq = 0
    while True:
        batch = await asyncio.to_thread(_read_events_after, store, run, seq)
        for recorded in batch:
            seq = recorded.seq
            yield recorded
            if isinstance(recorded.event, RunEnd):
                return
        await asyncio.sleep(LOOK_EVERY)


def _read_events_after(store: EventStore, run: str, seq: int) -> list[Recorded]:
    return list(store.read_events(run, after=seq))


def _print_event_json(recorded: Recorded, _: RunState) -> None:
    sys.stdout.write(recorded.line.decode() + "\n")
    sys.stdout.flush()


def run_exit_code(state: RunState) -> int:
    if state.status != "finished":
        return COULD_NOT
    passed = all(item.status == "passed" for item in state.items.values())
    return ALL_PASSED if passed and not _has_undecided_rules(state) else SOME_DID_NOT


def _has_undecided_rules(state: RunState) -> bool:
    return bool(state.scope and state.scope.undecided)


def apply_starting_point(order: Order, file: Path) -> Order:
    if order.rules is not None:
        raise BadInput("give --from or --rules, not both.")
    start = read_starting_point(file, load_skill(order.skill))
    print(f"temper: {start.summary_text}", file=sys.stderr)  # noqa: T201
    note = "; ".join(part for part in (order.note, start.log_note) if part)
    return replace(order, rules=start.rules, note=note)
