"""Actions of people in a run: order, approvals, pause, resume and stop."""

from dataclasses import dataclass

from app.events import kinds
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
        case kinds.RunQueued():
            said = f", and said “{event.consent}”" if event.consent else ""
            return OperatorAction(recorded.at, event.by, f"asked for the run in mode {event.mode}{said}", event.note)
        case kinds.ApprovalGiven():
            return OperatorAction(
                recorded.at,
                event.by,
                f"approved {_name_change(event.approval)}{_format_approval_count(event)}",
                event.reason,
            )
        case kinds.ApprovalRefused():
            return OperatorAction(recorded.at, event.by, f"refused {_name_change(event.approval)}", event.reason)
        case kinds.ApprovalEdited():
            return OperatorAction(recorded.at, event.by, f"edited {_name_change(event.approval)}", event.reason)
        case kinds.RunStopRequested():
            return OperatorAction(recorded.at, event.by, "stopped the run", event.reason)
        case kinds.RunPaused():
            return OperatorAction(recorded.at, event.by, "paused the run", "")
        case kinds.RunResumed(after_crash=False):
            return OperatorAction(recorded.at, event.by, "let the run go on", "")
        case _:
            return None


def _format_approval_count(event: kinds.ApprovalGiven) -> str:
    return f", as {event.given} of {event.of}" if event.of > 1 else ""


def _name_change(approval: str) -> str:
    """Name the change of an approval. Its id is run.rule.attempt.seq, and a rule's id may contain dots."""
    rule, attempt = approval.split(".", 1)[-1].rsplit(".", 2)[:2]
    return f"the change to {rule} of attempt {attempt}"
