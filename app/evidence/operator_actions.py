"""Actions of people in a run: order, approvals, pause, resume and stop."""

from dataclasses import dataclass

from app.events.kinds import (
    ApprovalEdited,
    ApprovalGiven,
    ApprovalRefused,
    RunPaused,
    RunQueued,
    RunResumed,
    RunStopRequested,
)
from app.events.record import Recorded


@dataclass(frozen=True)
class OperatorAction:
    at: float
    who: str
    what: str
    why: str


def to_operator_action(recorded: Recorded) -> OperatorAction | None:
    event = recorded.event
    match event:
        case RunQueued():
            said = f", and said “{event.consent}”" if event.consent else ""
            return OperatorAction(recorded.at, event.by, f"asked for the run in mode {event.mode}{said}", event.note)
        case ApprovalGiven():
            return OperatorAction(
                recorded.at,
                event.by,
                f"approved {_name_change(event.approval)}{_format_approval_count(event)}",
                event.reason,
            )
        case ApprovalRefused():
            return OperatorAction(recorded.at, event.by, f"refused {_name_change(event.approval)}", event.reason)
        case ApprovalEdited():
            return OperatorAction(recorded.at, event.by, f"edited {_name_change(event.approval)}", event.reason)
        case RunStopRequested():
            return OperatorAction(recorded.at, event.by, "stopped the run", event.reason)
        case RunPaused():
            return OperatorAction(recorded.at, event.by, "paused the run", "")
        case RunResumed(after_crash=False):
            return OperatorAction(recorded.at, event.by, "let the run go on", "")
        case _:
            return None


def _format_approval_count(event: ApprovalGiven) -> str:
    return f", as {event.given} of {event.of}" if event.of > 1 else ""


def _name_change(approval: str) -> str:
    """Name the change of an approval. Its id is run.rule.attempt.seq, and a rule's id may contain dots."""
    rule, attempt = approval.split(".", 1)[-1].rsplit(".", 2)[:2]
    return f"the change to {rule} of attempt {attempt}"
