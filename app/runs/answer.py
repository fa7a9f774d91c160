"""Record a person's answer to a change that waits for approval, for the CLI, the API and the pages.

The first answer counts. If two approvals are needed, the first refusal counts too.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlmodel import Session, col, select

from app.errors import NotTaken
from app.events.approvals import KNOWN
from app.loop.answers import BrokenAnswer, read_actions
from app.loop.approving import objection, standing
from app.loop.inbox import open_approval
from app.loop.state import RunState
from app.runs.command import written
from app.store.models import CommandRow, RunRow

_AT_ODDS = "wrong-state"
DECISIONS = ("approve", "refuse", "edit")
LONGEST_ACTIONS = 100_000


@dataclass(frozen=True)
class Yeses:
    """Approvals given and needed."""

    given: int
    of: int

    @property
    def said(self) -> str:
        """Return a sentence about the missing approvals, or an empty string."""
        return standing(self.of, self.given)


def answer(
    session: Session,
    state: RunState,
    approval: str,
    decision: str,
    *,
    by: str,
    via: str = "",
    reason: str = "",
    actions: str = "",
) -> Yeses:
    """Store an answer; raise Rejected if it is invalid. `via` is the sign-in method; `actions` is an edit's JSON array.

    The run's own process checks whether the host has changed since."""
    if decision not in DECISIONS:
        raise NotTaken("decision", f"there is no answer {decision[:40]!a}: choose one of {', '.join(DECISIONS)}.")
    if not approval or open_approval(state, time.time()) != approval:
        raise NotTaken("approval", f"approval {approval[:60]!a} is not waiting for an answer.", "not-waiting")
    ours = written(state.run, decision, by, reason)
    ours.via = via
    if decision == "refuse" and not ours.reason.strip():
        raise NotTaken("reason", "say why: the Architect learns from it.")
    if decision != "edit" and actions:
        raise NotTaken("actions", f"actions are of an edit: leave them out to {decision}.")
    ours.approval, ours.actions = approval, _read(actions) if decision == "edit" else ""
    attempt = state.item.attempt if state.item else None
    return _taken(session, ours, attempt.of if attempt else 1)


def _read(actions: str) -> str:
    """Validate an edit's actions like a Worker's answer and return them in canonical form."""
    if len(actions) > LONGEST_ACTIONS:
        raise NotTaken("actions", f"the actions have {len(actions)} characters: {LONGEST_ACTIONS} are the most.")
    try:
        found = read_actions(f'{{"actions": {actions or "[]"}, "note": ""}}')
    except BrokenAnswer as exc:
        raise NotTaken("actions", f"these are no actions: {exc}.") from exc
    return msgspec.json.encode({"actions": found, "note": ""}).decode()


def _taken(session: Session, ours: CommandRow, of: int) -> Yeses:
    """Insert the answer before reading the others, so that one of two concurrent answers sees the other."""
    session.exec(select(RunRow.id).where(RunRow.id == ours.run).with_for_update()).first()
    session.add(ours)
    session.flush()
    there = select(CommandRow).where(col(CommandRow.run) == ours.run, col(CommandRow.approval) == ours.approval)
    earlier = [row for row in session.exec(there.order_by(col(CommandRow.id))).all() if row is not ours]
    yeses = [row for row in earlier if row.verb == "approve" and (of == 1 or row.via in KNOWN)]
    if len(yeses) == of or any(row.verb != "approve" for row in earlier):
        return _same_again(session, ours, earlier, of)
    if ours.verb == "approve" and (wrong := objection(of, [row.by for row in yeses], ours.by, ours.via, ours.reason)):
        raise NotTaken("approval", wrong, _AT_ODDS)
    return Yeses(len(yeses) + (ours.verb == "approve"), of)


def _same_again(session: Session, ours: CommandRow, earlier: Sequence[CommandRow], of: int) -> Yeses:
    """Accept a repeat of the recorded answer; reject a different one."""
    last = earlier[-1]
    if (last.verb, last.actions) != (ours.verb, ours.actions):
        said = f"approval {ours.approval[:60]!a} takes no other answer: {last.by} was first, with {last.verb}."
        raise NotTaken("approval", said, "not-waiting")
    session.delete(ours)
    return Yeses(of if ours.verb == "approve" else 0, of)
