"""The state of each rule on each host, projected from the log by the transaction that appends."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
from sqlalchemy import bindparam, delete
from sqlmodel import Field, LargeBinary, Session, SQLModel, col, select

from app.events import kinds
from app.events.record import Recorded
from app.store.db import create_insert
from app.store.host_groups import HostGroupRow
from app.store.models import RunRow

NOTHING, OPEN, PASSED, UNDONE, PERSONS, LEFT, WORK, SLIPPED = ".opuadws"
"""Cell states, one letter each, to keep the view of a thousand hosts small."""

_ITEM_EVENTS = kinds.ItemStarted | kinds.AttemptStarted | kinds.ActionRolledBack | kinds.ItemEnd
_TELLING = kinds.VerdictGiven | kinds.DriftFound | _ITEM_EVENTS | kinds.RunEnd


class StandingRow(SQLModel, table=True):
    """The rules of one host and skill. All cells are one value, so that a thousand hosts are a thousand rows."""

    __tablename__ = "standing"

    host: str = Field(primary_key=True)
    skill: str = Field(primary_key=True)
    run: str
    """The newest run that changed a cell."""
    simulated: bool
    at: float
    cells: bytes = Field(sa_type=LargeBinary)
    """JSON: rule to letter, run and seq, e.g. `p7f3a2b1c:118`."""


@dataclass(frozen=True)
class Cell:
    letter: str
    run: str = ""
    """The run whose event `seq` set the letter."""
    seq: int = 0


_cells: msgspec.json.Decoder[dict[str, str]] = msgspec.json.Decoder(dict[str, str])


def decode_encoded_cells_by_rule(cells: bytes) -> dict[str, str]:
    """Return the encoded cell of each rule; its first character is the letter."""
    return _cells.decode(cells)


def parse_cell(cell: str | None) -> Cell:
    if not cell:
        return Cell(NOTHING)
    run, _, seq = cell[1:].rpartition(":")
    return Cell(cell[0], run, int(seq))


def list_standings(session: Session, skill: str) -> Sequence[StandingRow]:
    return session.exec(select(StandingRow).where(StandingRow.skill == skill)).all()


def list_seen_skills(session: Session) -> list[str]:
    """Return the skills that any host was scanned by, most hosts first."""
    found = list(session.exec(select(StandingRow.skill)))
    return sorted(set(found), key=lambda skill: (-found.count(skill), skill))


def delete_host_standings_and_memberships(session: Session, host: str) -> None:
    """Remove the host's standings and group memberships; its runs stay."""
    session.execute(delete(StandingRow).where(col(StandingRow.host) == host))
    session.execute(delete(HostGroupRow).where(col(HostGroupRow.host) == host))


def update_standings(session: Session, batch: Sequence[Recorded]) -> None:
    by_run: dict[str, list[Recorded]] = {}
    for recorded in batch:
        if isinstance(recorded.event, _TELLING):
            by_run.setdefault(recorded.run, []).append(recorded)
    if by_run:
        session.flush()
    for run, events in by_run.items():
        if found := session.connection().execute(_OF, {"run": run}).first():
            host, skill, simulated, cells = found
            row = {"host": host, "skill": skill, "run": run, "simulated": simulated, "at": events[-1].at}
            _save_standing_of_host_and_skill(
                session,
                row | {"cells": _encode_cells_after_events(decode_encoded_cells_by_rule(cells or b"{}"), events)},
            )


_OF = (
    select(col(RunRow.host), col(RunRow.skill), col(RunRow.simulated), col(StandingRow.cells))
    .outerjoin(StandingRow, (col(StandingRow.host) == col(RunRow.host)) & (col(StandingRow.skill) == col(RunRow.skill)))
    .where(col(RunRow.id) == bindparam("run"))
)


def _encode_cells_after_events(cells: dict[str, str], events: Sequence[Recorded]) -> bytes:
    for recorded in events:
        place = f"{recorded.run}:{recorded.seq}"
        cells |= {rule: letter + place for rule, letter in _map_rules_to_new_letters(recorded.event, cells).items()}
    return msgspec.json.encode(cells)


def _save_standing_of_host_and_skill(session: Session, row: dict[str, object]) -> None:
    new = create_insert(session, StandingRow)
    changed = {name: new.excluded[name] for name in row if name not in ("host", "skill")}
    session.connection().execute(new.on_conflict_do_update(index_elements=["host", "skill"], set_=changed), row)


def _map_rules_to_new_letters(event: kinds.Event, cells: Mapping[str, str]) -> dict[str, str]:
    """Return the letters that an event changes, by rule."""
    match event:
        case kinds.VerdictGiven(phase="opening", rule=rule, word="fail") if _get_letter_or_dot_if_unknown(
            cells, rule
        ) in (PERSONS, LEFT):
            return {}  # a scan that confirms the finding settles nothing: it still waits for a person
        case kinds.VerdictGiven(phase="opening", rule=rule, word=word):
            return {rule: {"pass": PASSED, "fail": OPEN}.get(word, NOTHING)}
        case kinds.VerdictGiven(phase="closing", rule=rule, word="pass"):
            return {rule: PASSED}
        case kinds.VerdictGiven(phase="closing", rule=rule, word="notapplicable"):
            return {rule: NOTHING}
        case kinds.VerdictGiven(phase="closing", rule=rule) if _get_letter_or_dot_if_unknown(cells, rule) == PASSED:
            return {rule: OPEN}
        case kinds.DriftFound(rules=rules):
            return dict.fromkeys(rules, SLIPPED)
        case kinds.ItemStarted(rule=rule) | kinds.AttemptStarted(rule=rule):
            return {rule: WORK}
        case kinds.ActionRolledBack(rule=rule):
            return {rule: UNDONE}
        case kinds.ItemPassed(rule=rule):
            return {rule: PASSED}
        case kinds.ItemEscalated(rule=rule):
            return {rule: PERSONS}
        case kinds.ItemDeferred(rule=rule) if _get_letter_or_dot_if_unknown(cells, rule) != UNDONE:
            return {rule: LEFT}
        case kinds.ItemSkipped(rule=rule) if _get_letter_or_dot_if_unknown(cells, rule) == WORK:
            return {rule: OPEN}
        case kinds.RunFinished() | kinds.RunFailed() | kinds.RunStopped():
            return {rule: OPEN for rule in cells if _get_letter_or_dot_if_unknown(cells, rule) == WORK}
        case _:
            return {}


def _get_letter_or_dot_if_unknown(cells: Mapping[str, str], rule: str) -> str:
    return cells.get(rule, NOTHING)[0]
