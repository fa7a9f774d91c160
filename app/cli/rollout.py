"""`temper run --hosts` and `temper rollout`: harden many hosts, one run each, and follow them."""

import asyncio
import getpass
from dataclasses import replace

import msgspec
from sqlalchemy import Engine
from sqlmodel import Session

from app.background.rollouts.rollout_controller import RolloutController
from app.cli import harden
from app.cli.database_access import (
    open_existing_database,
    open_or_create_database,
    resolve_rollout_id,
    sync_host_folders,
)
from app.cli.evidence_export import create_requester
from app.cli.output import Row, print_line, print_rows, print_stored_rows, to_row, write_output
from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RolloutOrdered
from app.events.record import Recorded
from app.evidence.notary import open_notary
from app.evidence.rollout_bundle import FILE
from app.lineups.model import Lineup
from app.runs.rollout.named_host_groups_and_selection import select_hosts
from app.runs.rollout.rollout_request import RolloutSpec, create_rollout_request
from app.runs.rollout.rollout_state import RolloutState, fold_rollout
from app.runs.rollout.rollout_submission_and_commands import command_rollout, create_random_rollout_id, submit_rollout
from app.runtime.data_folder import AlreadyInUse
from app.store.host_groups import read_groups
from app.store.rollouts import list_newest_rollouts, list_unended_rollouts, read_rollout_events, require_rollout
from app.text.clean import clean_text


async def run_rollout(settings: Settings, wanted: RolloutSpec, *, as_json: bool) -> int:
    lineup = load_lineup(settings)
    await asyncio.to_thread(sync_host_folders, settings)
    try:
        await asyncio.to_thread(harden.require_no_other_nodes, settings)
        async with open_runtime(settings, lineup) as runtime:
            request = _select_hosts_and_build_request(settings, runtime.database, wanted, lineup)
            rollout = _find_same_unended_or_submit(runtime.database, request)
            controller = RolloutController(runtime)
            controller.start()
            try:
                return await _follow_rollout_to_exit_code(runtime.database, rollout, as_json=as_json)
            finally:
                await controller.close()
    except AlreadyInUse as exc:
        harden.require_no_command_line_fix_recipes(settings)
        print_line(f"temper: {exc}; that process works on the rollout", to_stderr=True)
        with open_or_create_database(settings) as database:
            request = _select_hosts_and_build_request(settings, database, wanted, lineup)
            rollout = _find_same_unended_or_submit(database, request)
            return await _follow_rollout_to_exit_code(database, rollout, as_json=as_json)


def _select_hosts_and_build_request(
    settings: Settings, database: Engine, wanted: RolloutSpec, lineup: Lineup
) -> RolloutOrdered:
    """Return the rollout's first event, with the hosts that its words select now."""
    with Session(database) as session:
        hosts = select_hosts(wanted.words, settings.hosts_folder, read_groups(session))
    return create_rollout_request(replace(wanted, hosts=hosts), lineup, settings.hosts_folder)


def _find_same_unended_or_submit(database: Engine, request: RolloutOrdered) -> str:
    """Return the id of an interrupted rollout with the same request, or of a new one."""
    if found := _find_same_unended(database, request):
        return found
    rollout = create_random_rollout_id()
    submit_rollout(database, request, rollout)
    return rollout


def _find_same_unended(database: Engine, request: RolloutOrdered) -> str | None:
    with Session(database) as session:
        for row in list_unended_rollouts(session):
            begun = fold_rollout(read_rollout_events(session, row.id)).asked
            if begun and msgspec.structs.replace(begun, note=request.note, pace=request.pace) == request:
                return row.id
    return None


async def _follow_rollout_to_exit_code(database: Engine, rollout: str, *, as_json: bool) -> int:
    state = RolloutState()
    while state.status not in ("finished", "stopped"):
        for recorded in await asyncio.to_thread(_read_rollout_events, database, rollout, state.seq):
            state = fold_rollout([recorded], state)
            if as_json:
                harden.print_event_json(recorded)
            else:
                _print_rollout_event(recorded, state)
        await asyncio.sleep(harden.LOOK_EVERY)
    return rollout_exit_code(state)


def _read_rollout_events(database: Engine, rollout: str, seq: int) -> list[Recorded]:
    with Session(database) as session:
        return list(read_rollout_events(session, rollout, seq))


def _print_rollout_event(recorded: Recorded, state: RolloutState) -> None:
    if not (described := recorded.event.describe()):
        return
    done = sum(part.is_over for part in state.parts.values())
    print_line(clean_text(f"{done:>4} of {len(state.parts)}  {described.glyph} {described.text}", 4000))
    if state.is_paused_by_rule:
        print_line(f"{' ' * 14}temper rollout resume {state.rollout}, or temper rollout stop {state.rollout}")


def rollout_exit_code(state: RolloutState) -> int:
    ends = [part.ended for part in state.parts.values()]
    if state.status != "finished" or any(ended is None or ended.state != "finished" for ended in ends):
        return harden.COULD_NOT
    all_passed = all(ended and ended.passed == ended.findings for ended in ends)
    return harden.ALL_PASSED if all_passed else harden.SOME_DID_NOT


def list_rollouts(settings: Settings, *, as_json: bool) -> None:
    nothing = "No rollouts yet. Start one with temper run --hosts."
    print_stored_rows(settings, _read_rollouts, nothing, as_json=as_json)


def _read_rollouts(session: Session) -> list[Row]:
    what = ("rollout", "state", "hosts", "named", "mode", "skill", "simulated")
    columns = (*what, "by", "reason", "asked_at", "ended_at")
    return [
        to_row(row, columns, rollout=row.id, named=row.words, mode=row.mode or "usual")
        for row in list_newest_rollouts(session, 100)
    ]


def print_rollout(settings: Settings, id_prefix: str, *, as_json: bool) -> None:
    database = open_existing_database(settings)
    state = fold_rollout(_read_rollout_events(database, resolve_rollout_id(database, id_prefix), 0))
    rows = [
        {"host": part.host, "wave": part.wave, "run": part.run or None, "outcome": part.outcome_text}
        for part in state.parts.values()
    ]
    print_rows(rows, "The rollout has no hosts.", as_json=as_json)


def apply_rollout_verb(settings: Settings, id_prefix: str, verb: str, reason: str) -> None:
    database = open_existing_database(settings)
    rollout = resolve_rollout_id(database, id_prefix)
    state = command_rollout(database, rollout, verb, by=getpass.getuser(), reason=reason)
    print(f"rollout {rollout} is {state.status}")  # noqa: T201


def write_rollout_evidence(settings: Settings, id_prefix: str, out: str) -> None:
    database = open_existing_database(settings)
    rollout = resolve_rollout_id(database, id_prefix)
    with Session(database) as session:
        row = require_rollout(session, rollout)
    if row.ended_at is None:
        raise BadInput(f"rollout {rollout} is {row.state}: its evidence is available when it has ended.")
    archive = open_notary(settings.data, database).issue_bundle(rollout, create_requester())
    write_output(archive.stream_archive_and_close(), out, f"rollout-{rollout}-{FILE}")
