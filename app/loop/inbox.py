"""What a person asks of a run while it works: pause, resume, stop, approve, refuse."""

from typing import Protocol

from app.events.command import Command
from app.events.kinds import ApprovalGiven, ApprovalRefused, Event, RunPaused, RunResumed, RunStopRequested
from app.loop.state import RunState


class Inbox(Protocol):
    async def waiting(self) -> list[Command]:
        """Commands not yet taken; returns at once when there are none."""

    async def close(self, command: Command) -> None: ...

    async def pause(self) -> None:
        """Return when it is worth looking again."""


def meaning(command: Command, state: RunState) -> Event | None:
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
        case "approve" if _open_approval(state) == command.approval:
            return ApprovalGiven(approval=command.approval, by=command.by, reason=command.reason)
        case "refuse" if _open_approval(state) == command.approval:
            return ApprovalRefused(approval=command.approval, by=command.by, reason=command.reason)
        case _:
            return None


def _open_approval(state: RunState) -> str | None:
    attempt = state.item.attempt if state.item else None
    return attempt.approval.approval if attempt and attempt.approval and attempt.awaits_person else None
