"""Commands of people for a running run: pause, resume, stop, approve, refuse, edit."""

from typing import Protocol

from app.events import kinds
from app.events.approval_policy import Approver
from app.events.person_command import Command
from app.loop.answers import BrokenAnswer, parse_actions_of_person
from app.loop.attempt_state import Attempt
from app.loop.required_approvals import explain_uncounted_approval, list_approver_of_each_approval, list_askers
from app.loop.state import RunState


class Inbox(Protocol):
    async def list_open_commands(self) -> list[Command]:
        """Return the open commands at once, possibly none."""

    async def close(self, command: Command) -> None: ...

    async def wait_for_commands(self) -> None:
        """Wait until there may be a new command."""


def find_event_for_command(command: Command, state: RunState, now: float) -> kinds.Event | None:
    if state.ended or state.stopping:
        return None
    match command.verb:
        case "pause" if state.status == "running":
            return kinds.RunPaused(by=command.by)
        case "resume" if state.status == "paused":
            return kinds.RunResumed(by=command.by)
        case "stop":
            return kinds.RunStopRequested(by=command.by, reason=command.reason)
        case "approve" if find_open_approval_id(state, now) == command.approval:
            return _build_approval_if_it_counts(command, state)
        case "refuse" if find_open_approval_id(state, now) == command.approval:
            return _build_event_of_person_refusing_approval(command, state)
        case "edit" if state.attempt and find_open_approval_id(state, now) == command.approval:
            return _build_edit_if_valid(command)
        case _:
            return None


def _build_approval_if_it_counts(command: Command, state: RunState) -> kinds.ApprovalGiven | None:
    """Check the approval again, since commands are read from the database."""
    asking = state.subject_awaiting_approval
    assert asking
    assert asking.approval
    given, made_by = list_approver_of_each_approval(asking.given), tuple(command.made_by.split())
    by = Approver(name=command.by, via=command.via, made_by=made_by)
    askers = list_askers(state.request, asking.proposed if isinstance(asking, Attempt) else None)
    if explain_uncounted_approval(asking.people_required, given, by, command.reason, askers):
        return None
    return kinds.ApprovalGiven(
        approval=command.approval,
        by=command.by,
        reason=command.reason,
        via=command.via,
        given=len(given) + 1,
        of=asking.people_required,
        token=command.token,
        made_by=made_by,
        about=asking.approval.about,
    )


def _build_event_of_person_refusing_approval(command: Command, state: RunState) -> kinds.ApprovalRefused:
    assert state.subject_awaiting_approval
    assert state.subject_awaiting_approval.approval
    about = state.subject_awaiting_approval.approval.about
    return kinds.ApprovalRefused(approval=command.approval, by=command.by, reason=command.reason, about=about)


def _build_edit_if_valid(command: Command) -> kinds.ApprovalEdited | None:
    try:
        actions = parse_actions_of_person(command.actions)
    except BrokenAnswer:
        return None
    return kinds.ApprovalEdited(approval=command.approval, by=command.by, reason=command.reason, actions=actions)


def find_open_approval_id(state: RunState, now: float) -> str | None:
    """Return the id of the open approval, or None. Expired ones are not open, even if not recorded yet."""
    if state.ended or state.stopping:
        return None
    asking = state.subject_awaiting_approval
    if asking is None or asking.approval is None or now >= asking.approval.expires:
        return None
    return asking.approval.approval
