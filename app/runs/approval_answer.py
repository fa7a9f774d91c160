"""Record a person's answer to a change that waits for approval, for the CLI, the API and the pages.

The first answer counts. If two approvals are needed, the first refusal counts too.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec
from sqlmodel import Session, col, select

from app.errors import Rejected
from app.events.approval_policy import IDENTIFIED_VIA, Approver, describe_missing_approvals
from app.loop.answers import BrokenAnswer, parse_actions_of_person
from app.loop.attempt_state import Attempt
from app.loop.inbox import find_open_approval_id
from app.loop.required_approvals import explain_uncounted_approval, list_askers
from app.loop.state import RunState
from app.runs.commands_to_runs import create_command_row
from app.store.database_clock import database_time
from app.store.models import CommandRow, RunRow

DECISIONS = ("approve", "refuse", "edit")
LONGEST_ACTIONS = 100_000


@dataclass(frozen=True)
class AnswerMeans:
    """How the person signed in, and with which token, made by whom for somebody else."""

    via: str = ""
    token: str = ""
    made_by: tuple[str, ...] = ()


NO_MEANS = AnswerMeans()


@dataclass(frozen=True)
class ApprovalProgress:
    given: int
    of: int

    @property
    def remaining_text(self) -> str:
        """Return a sentence about the missing approvals, or an empty string."""
        return describe_missing_approvals(self.of, self.given)


def record_answer(
    session: Session,
    state: RunState,
    approval: str,
    decision: str,
    *,
    by: str,
    sign_in_means: AnswerMeans = NO_MEANS,
    reason: str = "",
    actions: str = "",
) -> ApprovalProgress:
    """Store an answer; raise Rejected if it is invalid. `actions` is an edit's JSON array.

    The run's own process checks whether the host has changed since."""
    if decision not in DECISIONS:
        raise Rejected("decision", f"{decision[:40]!a} is not an answer: choose one of {', '.join(DECISIONS)}.")
    at = database_time(session)
    if not approval or find_open_approval_id(state, at) != approval:
        raise Rejected("approval", f"approval {approval[:60]!a} is not waiting for an answer.", "not-waiting")
    ours = create_command_row(state.run, decision, by, reason, at)
    ours.via, ours.token, ours.made_by = sign_in_means.via, sign_in_means.token, " ".join(sign_in_means.made_by)
    if decision == "refuse" and not ours.reason.strip():
        raise Rejected("reason", "give a reason: the Architect learns from it.")
    if decision != "edit" and actions:
        raise Rejected("actions", f"only an edit has actions: leave them out to {decision}.")
    asking = state.subject_awaiting_approval
    if decision == "edit" and not isinstance(asking, Attempt):
        raise Rejected("decision", "a reboot has no actions to edit: approve it or refuse it.")
    ours.approval, ours.actions = (
        approval,
        _validate_actions_and_build_worker_answer(actions) if decision == "edit" else "",
    )
    askers = list_askers(state.request, asking.proposed if isinstance(asking, Attempt) else None)
    return _store_answer(session, ours, asking.people_required if asking else 1, askers)


def _validate_actions_and_build_worker_answer(actions: str) -> str:
    """Validate an edit's actions like a Worker's answer and return them in canonical form."""
    if len(actions) > LONGEST_ACTIONS:
        raise Rejected("actions", f"the actions have {len(actions)} characters; the limit is {LONGEST_ACTIONS}.")
    try:
        found = parse_actions_of_person(f'{{"actions": {actions or "[]"}, "note": ""}}')
    except BrokenAnswer as exc:
        raise Rejected("actions", f"the actions are not valid: {exc}.") from exc
    return msgspec.json.encode({"actions": found, "note": ""}).decode()


def _store_answer(
    session: Session, answer_row: CommandRow, people_required: int, askers: Sequence[str]
) -> ApprovalProgress:
    """Insert the answer before reading the others, so that one of two concurrent answers sees the other."""
    session.exec(select(RunRow.id).where(RunRow.id == answer_row.run).with_for_update()).first()
    session.add(answer_row)
    session.flush()
    there = select(CommandRow).where(
        col(CommandRow.run) == answer_row.run, col(CommandRow.approval) == answer_row.approval
    )
    earlier = [row for row in session.exec(there.order_by(col(CommandRow.id))).all() if row is not answer_row]
    yeses = [row for row in earlier if row.verb == "approve" and (people_required == 1 or row.via in IDENTIFIED_VIA)]
    if len(yeses) == people_required or any(row.verb != "approve" for row in earlier):
        return _accept_identical_answer_or_reject(session, answer_row, earlier, people_required)
    if answer_row.verb == "approve":
        given, by = [_to_approver(row) for row in yeses], _to_approver(answer_row)
        if wrong := explain_uncounted_approval(people_required, given, by, answer_row.reason, askers):
            raise Rejected("approval", wrong, "wrong-state")
    return ApprovalProgress(len(yeses) + (answer_row.verb == "approve"), people_required)


def _to_approver(row: CommandRow) -> Approver:
    return Approver(name=row.by, via=row.via, made_by=tuple(row.made_by.split()))


def _accept_identical_answer_or_reject(
    session: Session, answer_row: CommandRow, earlier: Sequence[CommandRow], people_required: int
) -> ApprovalProgress:
    """Accept a repeat of the recorded answer; reject a different one."""
    last = earlier[-1]
    if (last.verb, last.actions) != (answer_row.verb, answer_row.actions):
        answer = f"approval {answer_row.approval[:60]!a} was already answered"
        raise Rejected("approval", f"{answer}: {last.by} was first, with {last.verb}.", "not-waiting")
    session.delete(answer_row)
    return ApprovalProgress(people_required if answer_row.verb == "approve" else 0, people_required)
