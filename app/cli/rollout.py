"""`temper run --hosts` and `temper rollout`: harden many hosts, one run each, and follow them."""

import asyncio
import getpass
import sys
from dataclasses import dataclass, replace
from datetime import datetime

import msgspec
from rich.console import Console
from rich.text import Text
from sqlalchemy import Engine
from sqlmodel import Session

from app.background.rollouts.rollout_controller import RolloutController
from app.cli.command_runtime import load_lineup, open_runtime
from app.cli.existing_database import open_existing_database
from app.cli.harden import ALL_PASSED, COULD_NOT, LOOK_EVERY, SOME_DID_NOT, require_no_other_nodes
from app.cli.listing import print_rows, print_stored_rows, to_datetime
from app.cli.output_file import write_output
from app.cli.shared_hosts import sync_host_folders
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RolloutAsked
from app.events.record import Recorded
from app.evidence.bundle import FILE
from app.evidence.notary import Requester, open_notary
from app.runs.rollout.host_selection import select_hosts
from app.runs.rollout.rollout_command import command_rollout, create_rollout_id, submit_rollout
from app.runs.rollout.rollout_request import RolloutSpec, create_rollout_request
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.runtime.data_folder import AlreadyInUse
from app.store.db import open_database
from app.store.host_groups import read_groups
from app.store.rollouts import (
    RolloutRow,
    find_rollouts_by_prefix,
    list_newest_rollouts,
    list_unended_rollouts,
    read_rollout_events,
    require_rollout,
)
from app.text.clean import clean_text


async def run_rollout(settings: Settings, wanted: RolloutSpec, *, as_json: bool) -> int:
    lineup = load_lineup(settings)
    await asyncio.to_thread(sync_host_folders, settings)
    try:
        await asyncio.to_thread(require_no_other_nodes, settings)
        async with open_runtime(settings, lineup) as runtime:
            request = create_rollout_request(
                _resolve_hosts(settings, runtime.database, wanted), lineup, settings.hosts_folder
            )
            rollout = _find_same_unended(runtime.database, request) or _create_rollout(runtime.database, request)
            conductor = RolloutController(runtime)
            conductor.start()
            try:
                return await _follow_rollout(runtime.database, rollout, as_json=as_json)
            finally:
                await conductor.close()
    except AlreadyInUse as exc:
        print(f"temper: {exc}; that process works on the rollout", file=sys.stderr)  # noqa: T201
        database = open_database(settings.database_location)
        try:
            request = create_rollout_request(_resolve_hosts(settings, database, wanted), lineup, settings.hosts_folder)
            return await _follow_rollout(database, _create_rollout(database, request), as_json=as_json)
        finally:
            database.dispose()


def _resolve_hosts(settings: Settings, database: Engine, wanted: RolloutSpec) -> RolloutSpec:
    with Session(database) as session:
        return replace(wanted, hosts=select_hosts(wanted.words, settings.hosts_folder, read_groups(session)))


def _create_rollout(database: Engine, request: RolloutAsked) -> str:
    rollout = create_rollout_id()
    submit_rollout(database, request, rollout)
    return rollout


def _find_same_unended(database: Engine, request: RolloutAsked) -> str | None:
    """Return the id of an interrupted rollout with the same request, or None."""
    with Session(database) as session:
        for row in list_unended_rollouts(session):
            begun = fold_rollout(read_rollout_events(session, row.id)).asked
            if begun and msgspec.structs.replace(begun, note=request.note, pace=request.pace) == request:
                return row.id
    return None


async def _follow_rollout(database: Engine, rollout: str, *, as_json: bool) -> int:
    console, state = Console(highlight=False), RolloutState()
    while state.status not in ("finished", "stopped"):
        for recorded in await asyncio.to_thread(_read_rollout_events, database, rollout, state.seq):
            state = fold_rollout([recorded], state)
            _print_rollout_event(console, recorded, state, as_json=as_json)
        await asyncio.sleep(LOOK_EVERY)
    return rollout_exit_code(state)


def _read_rollout_events(database: Engine, rollout: str, seq: int) -> list[Recorded]:
    with Session(database) as session:
        return list(read_rollout_events(session, rollout, seq))


def _print_rollout_event(console: Console, recorded: Recorded, state: RolloutState, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(recorded.line.decode() + "\n")
        sys.stdout.flush()
    elif told := recorded.event.describe():
        done = sum(part.is_over for part in state.parts.values())
        console.print(
            Text(clean_text(f"{done:>4} of {len(state.parts)}  {told.glyph} {told.text}", 4000)), soft_wrap=True
        )
        if state.is_paused_by_rule:
            ways = f"temper rollout resume {state.rollout}, or temper rollout stop {state.rollout}"
            console.print(Text(f"              {ways}"), soft_wrap=True)


def rollout_exit_code(state: RolloutState) -> int:
    ends = [part.ended for part in state.parts.values()]
    if state.status != "finished" or any(ended is None or ended.state != "finished" for ended in ends):
        return COULD_NOT
    return ALL_PASSED if all(ended and ended.passed == ended.findings for ended in ends) else SOME_DID_NOT


@dataclass(frozen=True)
class RolloutLine:
    rollout: str
    state: str
    hosts: int
    named: str
    mode: str
    skill: str
    simulated: bool
    by: str
    reason: str
    asked_at: datetime | None
    ended_at: datetime | None


def list_rollouts(settings: Settings, *, as_json: bool) -> None:
    nothing = "No rollouts yet. Start one with temper run --hosts."
    print_stored_rows(
        settings,
        lambda session: [_to_rollout_line(row) for row in list_newest_rollouts(session, 100)],
        nothing,
        as_json=as_json,
    )


def _to_rollout_line(row: RolloutRow) -> RolloutLine:
    at = to_datetime(row.asked_at), to_datetime(row.ended_at)
    mode = row.mode or "usual"
    return RolloutLine(row.id, row.state, row.hosts, row.words, mode, row.skill, row.simulated, row.by, row.reason, *at)


@dataclass(frozen=True)
class PartLine:
    host: str
    wave: int
    run: str | None
    outcome: str


def print_rollout(settings: Settings, wanted: str, *, as_json: bool) -> None:
    database = open_existing_database(settings)
    state = fold_rollout(_read_rollout_events(database, _find_rollout(database, wanted), 0))
    rows = [PartLine(part.host, part.wave, part.run or None, part.outcome_text) for part in state.parts.values()]
    print_rows(rows, "The rollout has no hosts.", as_json=as_json)


def apply_rollout_verb(settings: Settings, wanted: str, verb: str, reason: str) -> None:
    database = open_existing_database(settings)
    rollout = _find_rollout(database, wanted)
    state = command_rollout(database, rollout, verb, by=getpass.getuser(), reason=reason)
    print(f"rollout {rollout} is {state.status}")  # noqa: T201


def write_bundle(settings: Settings, wanted: str, out: str) -> None:
    database = open_existing_database(settings)
    rollout = _find_rollout(database, wanted)
    with Session(database) as session:
        row = require_rollout(session, rollout)
    if row.ended_at is None:
        raise BadInput(f"rollout {rollout} is {row.state}: its evidence is available when it has ended.")
    archive = open_notary(settings.data, database).issue_bundle(
        rollout, Requester(getpass.getuser(), "admin", "terminal")
    )
    write_output(archive.stream_archive(), out, f"rollout-{rollout}-{FILE}")


def _find_rollout(database: Engine, wanted: str) -> str:
    with Session(database) as session:
        found = [row.id for row in find_rollouts_by_prefix(session, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadInput(f"{wanted!r} matches {', '.join(found)}: give more characters of the id.")
        return require_rollout(session, wanted).id
