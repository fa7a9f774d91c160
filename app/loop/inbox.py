"""What a person asks of a run while it works: pause, resume, stop, approve, refuse, edit."""

from typing import Protocol

from app.events.command import Command
from app.events.kinds import (
    ApprovalEdited,
    ApprovalGiven,
    ApprovalRefused,
    Event,
    RunPaused,
    RunResumed,
    RunStopRequested,
)
from app.loop.answers import BrokenAnswer, read_actions
from app.loop.approving import names, objection
from app.loop.state import RunState


class Inbox(Protocol):
    async def waiting(self) -> list[Command]:
        """Commands not yet taken; returns at once when there are none."""

    async def close(self, command: Command) -> None: ...

    async def pause(self) -> None:
        """Return when it is worth looking again."""


def meaning(command: Command, state: RunState, now: float) -> Event | None:
    """The event that a command makes of this state; None where it changes nothing."""
    if state.ended or state.stopping:
        return None
    match command.verb:
        case "pause" if state.status == "running":
            return RunPaused(by=command.by)
        case "resume" if state.status == "paused":
            return RunResumed(by=command.by)
        case "stop":
            return RunStopRequested(by=command.by, reason=command.reason)
        case "approve" if open_approval(state, now) == command.approval:
            return _given(command, state)
        case "refuse" if open_approval(state, now) == command.approval:
            return ApprovalRefused(approval=command.approval, by=command.by, reason=command.reason)
        case "edit" if open_approval(state, now) == command.approval:
            return _edited(command)
        case _:
            return None


def _given(command: Command, state: RunState) -> ApprovalGiven | None:
    """The door has looked already; the database is no door."""
    attempt = state.item.attempt if state.item else None
    assert attempt
    given = names(attempt.given)
    if objection(attempt.of, given, command.by, command.via, command.reason):
        return None
    return ApprovalGiven(
        approval=command.approval,
        by=command.by,
        reason=command.reason,
        via=command.via,
        given=len(given) + 1,
        of=attempt.of,
    )


def _edited(command: Command) -> ApprovalEdited | None:
    try:
        actions = read_actions(command.actions)
    except BrokenAnswer:
        return None
    return ApprovalEdited(approval=command.approval, by=command.by, reason=command.reason, actions=actions)


def open_approval(state: RunState, now: float) -> str | None:
    """What is late is not open any more, though nobody has written that down yet."""
    if state.ended or state.stopping:
        return None
    attempt = state.item.attempt if state.item else None
    if attempt is None or attempt.approval is None or not attempt.awaits_person or now >= attempt.approval.expires:
        return None
    return attempt.approval.approval
