"""`temper run` and `temper host reboot-check`: request a run, work on it unless another process does, and follow it."""

import asyncio
import getpass
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.database_access import open_or_create_database, require_existing_database, sync_host_folders
from app.cli.output import print_line
from app.cli.progress import ProgressPrinter
from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.errors import BadInput
from app.events.bus import Bus
from app.events.kinds import RebootChecked, RunEnd, RunQueued
from app.events.log_writer import LogWriter, RunLog
from app.events.record import Recorded
from app.evidence.incoming.open_rules_of_foreign_assessment import read_starting_point
from app.loop.state import RunState, apply_event
from app.runs.order import Order, create_run_request
from app.runs.reboot_check_order_from_last_run import create_reboot_check_order
from app.runtime.data_folder import AlreadyInUse
from app.runtime.runtime import create_random_run_id
from app.skills.catalog import load_skill
from app.store import nodes
from app.store.database_clock import open_clock
from app.store.events import EventStore
from app.targets.host_registry import require_known_host

ALL_PASSED, COULD_NOT, SOME_DID_NOT = 0, 1, 2
LOOK_EVERY = 0.05


async def harden_host(settings: Settings, order: Order, *, as_json: bool) -> int:
    return run_exit_code(await _order_and_follow_run(settings, order, as_json=as_json))


async def _order_and_follow_run(settings: Settings, order: Order, *, as_json: bool) -> RunState:
    """Order the run, here or from the process that works on the data folder, and return its state at its end."""
    lineup = load_lineup(settings)
    await asyncio.to_thread(sync_host_folders, settings)
    request = create_run_request(order, lineup, settings.hosts_folder)
    try:
        await asyncio.to_thread(require_no_other_nodes, settings)
        async with open_runtime(settings, lineup) as runtime:
            run = runtime.find_unended_run_id_by_request(request) or await runtime.submit_run(request)
            return await _follow_run_to_end(runtime.store, run, as_json=as_json)
    except AlreadyInUse as exc:
        require_no_command_line_fix_recipes(settings)
        print_line(f"temper: {exc}; that process works on the run", to_stderr=True)
        with open_or_create_database(settings) as database:
            store, run = await _submit_elsewhere_and_open_store(database, request)
            return await _follow_run_to_end(store, run, as_json=as_json)


def require_no_other_nodes(settings: Settings) -> None:
    if not settings.database_url:
        return
    with open_or_create_database(settings) as database, Session(database) as session:
        if others := nodes.list_responsive_nodes(session):
            raise AlreadyInUse(f"{others[0].name} works on this database (nodes: {len(others)})")


def require_no_command_line_fix_recipes(settings: Settings) -> None:
    """Raise BadInput if the order names recipe files, which another process would not read."""
    if settings.recipes:
        problem = "Another process works on this data folder, and it reads no --recipes of this command."
        raise BadInput(f"{problem} Put the file into {settings.fix_recipes_folder}, and leave --recipes out.")


async def _submit_elsewhere_and_open_store(database: Engine, request: RunQueued) -> tuple[EventStore, str]:
    """Write the run's first event, from which the process that works on this database starts the run."""
    store, run, clock = EventStore(database), create_random_run_id(), await asyncio.to_thread(open_clock, database)
    writer = LogWriter(store, Bus())
    writer.start()
    RunLog(run, writer, clock=clock.now).append(request)
    await writer.close()
    return store, run


async def _follow_run_to_end(store: EventStore, run: str, *, as_json: bool) -> RunState:
    state = RunState()
    with ProgressPrinter(run) as progress:
        async for recorded in _stream_events(store, run):
            state = apply_event(state, recorded)
            if as_json:
                print_event_json(recorded)
            else:
                progress.show(recorded, state)
    return state


async def _stream_events(store: EventStore, run: str) -> AsyncIterator[Recorded]:
    seq = 0
    while True:
        for recorded in await asyncio.to_thread(list, store.read_events(run, after=seq)):
            seq = recorded.seq
            yield recorded
            if isinstance(recorded.event, RunEnd):
                return
        await asyncio.sleep(LOOK_EVERY)


def print_event_json(recorded: Recorded) -> None:
    sys.stdout.write(recorded.line.decode() + "\n")
    sys.stdout.flush()


def run_exit_code(state: RunState) -> int:
    if state.status != "finished":
        return COULD_NOT
    passed = all(item.status == "passed" for item in state.items.values())
    undecided = state.scope is not None and bool(state.scope.undecided)
    return ALL_PASSED if passed and not undecided else SOME_DID_NOT


def restrict_order_to_open_rules(order: Order, assessment_file: Path) -> Order:
    if order.rules is not None:
        raise BadInput("give --from or --rules, not both.")
    start = read_starting_point(assessment_file, load_skill(order.skill))
    print_line(f"temper: {start.summary_text}", to_stderr=True)
    note = "; ".join(part for part in (order.note, start.note_for_log) if part)
    return replace(order, rules=start.rules, note=note)


def run_check_after_reboot(settings: Settings, host: str, *, as_json: bool) -> int:
    """Check whether the last run's results hold after a reboot. Return SOME_DID_NOT if one does not."""
    require_existing_database(settings)
    sync_host_folders(settings)
    require_known_host(host, settings.hosts_folder)
    with open_or_create_database(settings) as database:
        order = create_reboot_check_order(database, host, getpass.getuser())
        state = asyncio.run(_order_and_follow_run(settings, order, as_json=as_json))
        found = _find_reboot_result(database, state.run)
    code = run_exit_code(state)
    lost = found is None or found.slipped or found.waiting or found.worse
    return SOME_DID_NOT if lost and code == ALL_PASSED else code


def _find_reboot_result(database: Engine, run: str) -> RebootChecked | None:
    found = (one.event for one in EventStore(database).read_events(run, kinds=("reboot.checked",)))
    return next((event for event in found if isinstance(event, RebootChecked)), None)
