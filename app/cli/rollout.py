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

from app.background.rollouts.conductor import Conductor
from app.cli.existing import existing_database
from app.cli.harden import ALL_PASSED, COULD_NOT, LOOK_EVERY, SOME_DID_NOT, unless_others_work
from app.cli.listing import list_stored, listed, moment
from app.cli.opening import chosen_lineup, opened
from app.cli.shared_hosts import caught_up
from app.cli.written import write_out
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RolloutAsked
from app.events.record import Recorded
from app.evidence.bundle import FILE
from app.evidence.notary import AskedBy, open_notary
from app.runs.rollout.asked import Rollout, asked_of
from app.runs.rollout.chosen import chosen
from app.runs.rollout.command import ask_for, handle_rollout, new_rollout_id
from app.runs.rollout.state import RolloutState, fold_rollout
from app.runs.rollout.telling import outcome, rollout_telling
from app.runtime.lock import Taken
from app.store.db import open_database
from app.store.groups import groups
from app.store.rollouts import RolloutRow, events_of, known_rollout, rollouts, rollouts_like, unended_rollouts
from app.text.clean import clean


async def roll_out(settings: Settings, wanted: Rollout, *, as_json: bool) -> int:
    lineup = chosen_lineup(settings)
    await asyncio.to_thread(caught_up, settings)
    try:
        await asyncio.to_thread(unless_others_work, settings)
        async with opened(settings, lineup) as runtime:
            request = asked_of(_with_hosts(settings, runtime.database, wanted), lineup, settings.hosts)
            rollout = _same_unended(runtime.database, request) or _new(runtime.database, request)
            conductor = Conductor(runtime)
            conductor.start()
            try:
                return await _follow(runtime.database, rollout, as_json=as_json)
            finally:
                await conductor.close()
    except Taken as exc:
        print(f"temper: {exc}; the rollout is handed to it", file=sys.stderr)  # noqa: T201
        database = open_database(settings.database)
        try:
            request = asked_of(_with_hosts(settings, database, wanted), lineup, settings.hosts)
            return await _follow(database, _new(database, request), as_json=as_json)
        finally:
            database.dispose()


def _with_hosts(settings: Settings, database: Engine, wanted: Rollout) -> Rollout:
    with Session(database) as session:
        return replace(wanted, hosts=chosen(wanted.words, settings.hosts, groups(session)))


def _new(database: Engine, request: RolloutAsked) -> str:
    rollout = new_rollout_id()
    ask_for(database, request, rollout)
    return rollout


def _same_unended(database: Engine, request: RolloutAsked) -> str | None:
    """Return the id of an interrupted rollout with the same request, or None."""
    with Session(database) as session:
        for row in unended_rollouts(session):
            begun = fold_rollout(events_of(session, row.id)).asked
            if begun and msgspec.structs.replace(begun, note=request.note, pace=request.pace) == request:
                return row.id
    return None


async def _follow(database: Engine, rollout: str, *, as_json: bool) -> int:
    console, state = Console(highlight=False), RolloutState()
    while state.status not in ("finished", "stopped"):
        for recorded in await asyncio.to_thread(_after, database, rollout, state.seq):
            state = fold_rollout([recorded], state)
            _show(console, recorded, state, as_json=as_json)
        await asyncio.sleep(LOOK_EVERY)
    return exit_code(state)


def _after(database: Engine, rollout: str, seq: int) -> list[Recorded]:
    with Session(database) as session:
        return list(events_of(session, rollout, seq))


def _show(console: Console, recorded: Recorded, state: RolloutState, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(recorded.line.decode() + "\n")
        sys.stdout.flush()
    elif told := rollout_telling(recorded.event):
        done = sum(part.over for part in state.parts.values())
        console.print(Text(clean(f"{done:>4} of {len(state.parts)}  {told.glyph} {told.text}", 4000)), soft_wrap=True)
        if state.asks:
            ways = f"temper rollout resume {state.rollout}, or temper rollout stop {state.rollout}"
            console.print(Text(f"              {ways}"), soft_wrap=True)


def exit_code(state: RolloutState) -> int:
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
    nothing = "There is no rollout yet: temper run --hosts starts one."
    list_stored(settings, lambda session: [_line(row) for row in rollouts(session, 100)], nothing, as_json=as_json)


def _line(row: RolloutRow) -> RolloutLine:
    at = moment(row.asked_at), moment(row.ended_at)
    mode = row.mode or "usual"
    return RolloutLine(row.id, row.state, row.hosts, row.words, mode, row.skill, row.simulated, row.by, row.reason, *at)


@dataclass(frozen=True)
class PartLine:
    host: str
    wave: int
    run: str | None
    outcome: str


def show_rollout(settings: Settings, wanted: str, *, as_json: bool) -> None:
    database = existing_database(settings)
    state = fold_rollout(_after(database, _find(database, wanted), 0))
    rows = [PartLine(part.host, part.wave, part.run or None, outcome(part)) for part in state.parts.values()]
    listed(rows, "It has no hosts.", as_json=as_json)


def handle(settings: Settings, wanted: str, verb: str, reason: str) -> None:
    database = existing_database(settings)
    rollout = _find(database, wanted)
    state = handle_rollout(database, rollout, verb, by=getpass.getuser(), reason=reason)
    print(f"rollout {rollout} is {state.status}")  # noqa: T201


def write_bundle(settings: Settings, wanted: str, out: str) -> None:
    database = existing_database(settings)
    rollout = _find(database, wanted)
    with Session(database) as session:
        row = known_rollout(session, rollout)
    if row.ended_at is None:
        raise BadInput(f"rollout {rollout} is {row.state}: its evidence is made when it has ended.")
    archive = open_notary(settings.data, database).bundle(rollout, AskedBy(getpass.getuser(), "admin", "terminal"))
    write_out(archive.pieces(), out, f"rollout-{rollout}-{FILE}")


def _find(database: Engine, wanted: str) -> str:
    with Session(database) as session:
        found = [row.id for row in rollouts_like(session, wanted)]
        if len(found) == 1:
            return found[0]
        if found:
            raise BadInput(f"{wanted!r} could be {', '.join(found)}: give more of the id.")
        return known_rollout(session, wanted).id
