"""What happened, one plain sentence a line: what, to what, by whom, why."""

from dataclasses import dataclass

from app.events.kinds import (
    ActionApplied,
    ActionFailedToApply,
    ActionRefused,
    ActionRolledBack,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptReflected,
    Event,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    LessonLearnt,
    RunFailed,
    RunFinished,
    RunPaused,
    RunQueued,
    RunResumed,
    RunScoped,
    RunStarted,
    RunStopped,
    SentryAlarm,
    TurnFinished,
    TurnInterrupted,
    VerdictExplained,
    VerdictGiven,
)
from app.events.record import Recorded


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: float
    glyph: str
    kind: str
    """passed, undone, escalated, skipped, deferred, alarm, refused or plain: for the eye, beside the glyph."""
    text: str


def feed_line(recorded: Recorded) -> FeedLine | None:
    said = _run(recorded.event) or _item(recorded.event) or _attempt(recorded.event)
    return FeedLine(recorded.seq, recorded.at, *said) if said else None


def _run(event: Event) -> tuple[str, str, str] | None:
    match event:
        case RunQueued():
            return "·", "plain", f"Run asked for on {event.host}: {len(event.rules)} rules, {event.mode}"
        case RunStarted():
            return "·", "plain", f"Run started. Verdicts: {event.scanner}. Commands: {event.confinement}"
        case RunScoped():
            return "·", "plain", f"Opening scan: {len(event.order)} findings, {len(event.compliant)} compliant"
        case RunPaused():
            return "‖", "plain", f"Paused by {event.by}"
        case RunResumed():
            return "▸", "plain", f"{'Taken up again after a crash' if event.after_crash else 'Resumed'} by {event.by}"
        case RunFinished():
            return "■", "plain", f"Run finished: {event.passed} passed, {event.escalated} escalated"
        case RunFailed():
            return "■", "alarm", f"Run failed: {event.reason}"
        case RunStopped():
            return "■", "plain", f"Run stopped by {event.by}. {event.reason}"
        case _:
            return None


def _item(event: Event) -> tuple[str, str, str] | None:
    match event:
        case ItemStarted():
            return "●", "plain", f"{event.rule} taken up: {event.title}"
        case ItemPassed():
            return "✓", "passed", f"{event.rule} passed at attempt {event.attempts}"
        case ItemEscalated():
            return "▲", "escalated", f"{event.rule} escalated: {event.reason}"
        case ItemSkipped():
            return "–", "skipped", f"{event.rule} skipped: {event.reason}"
        case ItemDeferred():
            return "◷", "deferred", f"{event.rule} deferred: {event.reason}"
        case _:
            return None


def _attempt(event: Event) -> tuple[str, str, str] | None:
    match event:
        case ActionRefused():
            return "✗", "refused", f"Policy refused the change ({event.clause}): {event.reason}"
        case ActionApplied():
            paths = ", ".join(change.path for change in event.changes)
            return "·", "plain", f"Worker changed {paths}"
        case ActionFailedToApply():
            return "✗", "refused", f"Nothing was changed: {event.reason}"
        case VerdictGiven(phase="attempt"):
            return "·", "plain", f"Scanner ({event.scanner}): {event.word}"
        case VerdictExplained(veto=True):
            return "✗", "refused", f"Auditor vetoed the pass: {event.reason}"
        case SentryAlarm():
            return "!", "alarm", f"Sentry alarm: {event.reason}"
        case ActionRolledBack():
            how = "verified" if not event.differences else f"NOT restored: {event.differences[0]}"
            return "↺", "undone", f"Rolled back in {event.seconds * 1000:.0f} ms, {how}"
        case LessonLearnt():
            return "·", "plain", f"Lesson: {event.lesson.advice}"
        case AttemptReflected(decision="PIVOT" | "ESCALATE"):
            return "·", "plain", f"Architect decides to {event.decision}: {event.reason}"
        case ApprovalRequested():
            return "?", "plain", f"{event.rule} waits for a person to approve its change"
        case ApprovalGiven() | ApprovalRefused():
            word = "approved" if isinstance(event, ApprovalGiven) else "refused"
            return "·", "plain", f"Change {word} by {event.by}. {event.reason}"
        case TurnFinished() if event.outcome != "answered":
            return "✗", "refused", f"{event.role.capitalize()}'s turn came to nothing ({event.outcome}): {event.detail}"
        case TurnInterrupted():
            return "·", "plain", f"Turn interrupted: {event.reason}"
        case _:
            return None
