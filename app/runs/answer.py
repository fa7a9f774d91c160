"""What a person answers to a change that waits for one: from whichever door, and the first answer counts."""

import time

import msgspec
from sqlmodel import Session, col, select

from app.errors import NotTaken
from app.loop.answers import BrokenAnswer, read_actions
from app.loop.inbox import open_approval
from app.loop.state import RunState
from app.runs.command import written
from app.store.models import CommandRow, RunRow

DECISIONS = ("approve", "refuse", "edit")
LONGEST_ACTIONS = 100_000


def answer(
    session: Session, state: RunState, approval: str, decision: str, *, by: str, reason: str = "", actions: str = ""
) -> None:
    """`actions` are of an edit: a JSON array of what to do instead. Whether the host is still as it was looked at, the
    run's own process finds out."""
    if decision not in DECISIONS:
        raise NotTaken("decision", f"there is no answer {decision[:40]!a}: choose one of {', '.join(DECISIONS)}.")
    if not approval or open_approval(state, time.time()) != approval:
        raise NotTaken("approval", f"approval {approval[:60]!a} is not waiting for an answer.", "not-waiting")
    if decision == "refuse" and not reason.strip():
        raise NotTaken("reason", "say why: the Architect learns from it.")
    if decision != "edit" and actions:
        raise NotTaken("actions", f"actions are of an edit: leave them out to {decision}.")
    ours = written(state.run, decision, by, reason)
    ours.approval, ours.actions = approval, _read(actions) if decision == "edit" else ""
    _first(session, ours)


def _read(actions: str) -> str:
    """As the Worker would answer, and the same text for the same actions."""
    if len(actions) > LONGEST_ACTIONS:
        raise NotTaken("actions", f"the actions have {len(actions)} characters: {LONGEST_ACTIONS} are the most.")
    try:
        found = read_actions(f'{{"actions": {actions or "[]"}, "note": ""}}')
    except BrokenAnswer as exc:
        raise NotTaken("actions", f"these are no actions: {exc}.") from exc
    return msgspec.json.encode({"actions": found, "note": ""}).decode()


def _first(session: Session, ours: CommandRow) -> None:
    """Written before it looks who was first, so that of two at once one sees the other. The same again is the same."""
    session.exec(select(RunRow.id).where(RunRow.id == ours.run).with_for_update()).first()
    session.add(ours)
    session.flush()
    there = select(CommandRow).where(col(CommandRow.run) == ours.run, col(CommandRow.approval) == ours.approval)
    first = session.exec(there.order_by(col(CommandRow.id))).first() or ours
    if (first.verb, first.actions) != (ours.verb, ours.actions):
        said = f"approval {ours.approval[:60]!a} takes no other answer: {first.by} was first, with {first.verb}."
        raise NotTaken("approval", said, "not-waiting")
    if first is not ours:
        session.delete(ours)
