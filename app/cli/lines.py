"""One line of text for an event, for a person who follows a run in a terminal."""

from rich.text import Text

from app.events.clean import clean
from app.events.kinds import (
    ActionApplied,
    ActionFailedToApply,
    ActionRefused,
    ActionRolledBack,
    ApprovalRequested,
    AttemptReflected,
    AttemptStarted,
    Event,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
    ItemSkipped,
    ItemStarted,
    LessonLearnt,
    PlanMade,
    RunFailed,
    RunFinished,
    RunPaused,
    RunQueued,
    RunResumed,
    RunScoped,
    RunStarted,
    RunStopped,
    SentryAlarm,
    TurnInterrupted,
    VerdictExplained,
    VerdictGiven,
)
from app.loop.state import RunState


def line(event: Event, state: RunState) -> Text | None:
    text = _run_line(event) or _item_line(event, state) or _attempt_line(event)
    return Text(clean(text, 2000)) if text else None


def _run_line(event: Event) -> str | None:
    match event:
        case RunQueued():
            engines = (
                f"SIMULATED engines at {event.pace:g} times the measured pace" if event.simulated else "real engines"
            )
            return f"run on {event.host}, {event.mode}, {len(event.rules)} rules, line-up {event.lineup}, {engines}"
        case RunStarted():
            return f"scanner: {event.scanner}; commands: {event.confinement}"
        case RunScoped():
            return f"{len(event.order)} findings, {len(event.compliant)} compliant, {len(event.undecided)} undecided"
        case RunPaused():
            return f"paused by {event.by}"
        case RunResumed(after_crash=True):
            return f"taken up again by {event.by}"
        case RunResumed():
            return f"resumed by {event.by}"
        case RunFinished():
            counts = f"✓ {event.passed} passed  ▲ {event.escalated} escalated"
            rest = f"– {event.skipped} skipped  ◷ {event.deferred} deferred"
            return f"\nfinished: {counts}  {rest}  {len(event.regressions)} regressions"
        case RunFailed():
            return f"\nfailed: {event.reason}"
        case RunStopped():
            return f"\nstopped by {event.by}: {event.reason}"
        case _:
            return None


def _item_line(event: Event, state: RunState) -> str | None:
    match event:
        case ItemStarted():
            done = sum(item.status not in ("waiting", "working") for item in state.items.values())
            return f"\n● {event.rule} CAT {event.category}  {event.title}  ({done + 1} of {len(state.items)})"
        case ItemPassed():
            return f"  ✓ passed at attempt {event.attempts}"
        case ItemEscalated():
            return f"  ▲ {event.rule} escalated: {event.reason}"
        case ItemSkipped():
            return f"  – {event.rule} skipped: {event.reason}"
        case ItemDeferred():
            return f"  ◷ {event.rule} deferred: {event.reason}"
        case AttemptStarted(attempt=number, lessons=lessons) if number > 1 or lessons:
            return f"  attempt {number}, {len(lessons)} lessons told"
        case _:
            return None


def _attempt_line(event: Event) -> str | None:
    match event:
        case PlanMade():
            return f"    plan: {event.approach}"
        case ActionRefused():
            return f"  ✗ refused by policy ({event.clause}): {event.reason}"
        case ApprovalRequested():
            return f"  waits for a person: temper approve {event.approval.split('.')[0]}"
        case ActionApplied():
            return "\n".join("    " + row for row in event.diff.splitlines() if row[:3] not in ("---", "+++"))
        case ActionFailedToApply():
            return f"  ✗ not changed: {event.reason}"
        case VerdictGiven(phase="attempt"):
            return f"    scanner: {event.word} ({event.scanner}): {event.evidence}"
        case VerdictExplained(veto=True):
            return f"  ✗ vetoed: {event.reason}"
        case SentryAlarm():
            return f"  ALARM ({event.by}): {event.reason}"
        case ActionRolledBack():
            end = "not restored: " + event.differences[0] if event.differences else "verified"
            return f"  ↺ rolled back in {event.seconds * 1000:.0f} ms, {end}"
        case LessonLearnt():
            return f"    lesson: {event.lesson.advice}"
        case AttemptReflected(decision=decision) if decision != "CONTINUE":
            return f"    {decision}: {event.reason}"
        case TurnInterrupted():
            return f"    turn interrupted: {event.reason}"
        case _:
            return None
