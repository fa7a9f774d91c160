"""Actions of people in a run: order, approvals, pause, resume and stop."""

from dataclasses import dataclass

from app.events import kinds
from app.events.approval_policy import format_token_and_makers_suffix
from app.events.record import Recorded


@dataclass(frozen=True)
class OperatorAction:
    at: float
    who: str
    what: str
    why: str


def find_operator_action(recorded: Recorded) -> OperatorAction | None:
    match event := recorded.event:
        case kinds.RunQueued():
            consent = f", and said “{event.consent}”" if event.consent else ""
            what, why = f"asked for the run in mode {event.mode}{consent}", event.note
        case kinds.ApprovalGiven():
            count = f", as {event.given} of {event.of}" if event.of > 1 else ""
            token = format_token_and_makers_suffix(event.token, event.made_by)
            what, why = f"approved {_describe_approval_subject(event.approval)}{count}{token}", event.reason
        case kinds.ApprovalRefused():
            what, why = f"refused {_describe_approval_subject(event.approval)}", event.reason
        case kinds.ApprovalEdited():
            what, why = f"edited {_describe_approval_subject(event.approval)}", event.reason
        case kinds.RunStopRequested():
            what, why = "stopped the run", event.reason
        case kinds.RunPaused():
            what, why = "paused the run", ""
        case kinds.RunResumed(after_crash=False):
            what, why = "let the run go on", ""
        case _:
            return None
    return OperatorAction(recorded.at, event.by, what, why)


def _describe_approval_subject(approval_id: str) -> str:
    """Name the change of an approval. Its id is run.rule.attempt.seq, and a rule's id may contain dots."""
    rule, attempt = approval_id.split(".", 1)[-1].rsplit(".", 2)[:2]
    if (rule, attempt) == ("reboot", "0"):
        return "the reboot"
    return f"the change to {rule} of attempt {attempt}"
