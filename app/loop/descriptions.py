"""Describes an event in one sentence, the same in terminal and pages."""

from dataclasses import dataclass

from app.events import kinds
from app.events.kinds import Event
from app.events.vocabulary import ProvenFix
from app.loop.approval_decision import describe_missing_approvals
from app.resources.vendor import KIND as VENDOR


@dataclass(frozen=True)
class EventDescription:
    glyph: str
    kind: str
    """The style: passed, undone, escalated, skipped, waived, deferred, alarm, refused or plain."""
    text: str


def describe_event(event: Event) -> EventDescription | None:
    said = (
        _describe_run_event(event)
        or _describe_item_event(event)
        or _describe_attempt_event(event)
        or _describe_person_event(event)
    )
    return EventDescription(*said) if said else None


def _describe_run_event(event: Event) -> tuple[str, str, str] | None:
    match event:
        case kinds.RunQueued():
            asked = f"Run asked for on {event.host}: {len(event.rules)} rules, {event.mode}"
            return "·", "plain", f"{asked}, line-up {event.lineup}, {_describe_engines(event)}"
        case kinds.RunStarted():
            return "·", "plain", f"Run started. Verdicts: {event.scanner}. Commands: {event.confinement}"
        case kinds.RunScoped():
            counts = f"{len(event.order)} findings, {len(event.compliant)} compliant, {len(event.undecided)} undecided"
            return "·", "plain", f"Opening scan: {counts}"
        case kinds.DriftFound():
            return "!", "alarm", f"Drift: {', '.join(event.rules)} held in run {event.since} and fail now"
        case kinds.RebootChecked():
            return (
                ("!" if event.slipped or event.worse else "·"),
                "alarm" if event.worse else "plain",
                _describe_reboot_check(event),
            )
        case kinds.RunResumed():
            return "▸", "plain", f"{'Taken up again after a crash' if event.after_crash else 'Resumed'} by {event.by}"
        case kinds.RunFinished():
            counts = f"{event.passed} passed, {event.escalated} escalated, {event.skipped} skipped"
            waived = f"{event.waived} waived, " if event.waived else ""
            rest = f"{event.deferred} deferred, {waived}{len(event.regressions)} regressions"
            return "■", "plain", f"Run finished: {counts}, {rest}"
        case kinds.RunFailed():
            return "■", "alarm", f"Run failed: {event.reason}"
        case kinds.RunStopped():
            return "■", "plain", f"Run stopped by {event.by}. {event.reason}"
        case _:
            return None


def describe_pending_settings(event: kinds.InForceChecked | kinds.RebootChecked) -> str:
    """Return the pending settings and what would bring them into force."""
    return "; ".join(f"{one.setting} is {one.running}, {one.wanted} wanted: {one.by}" for one in event.behind)


def _describe_reboot_check(event: kinds.RebootChecked) -> str:
    if not event.of:
        return "Check after a reboot: no earlier run changed this host"
    if not event.boot_before or not event.boot_now:
        begun = f"whether the host began anew since run {event.of} is not known"
    else:
        begun = f"the host {'began anew' if event.rebooted else 'has not begun anew'} since run {event.of}"
    said = [f"Check after a reboot: {begun}"]
    said += [f"hold now that did not before: {', '.join(event.arrived)}"] if event.arrived else []
    said += [f"no longer hold: {', '.join(event.slipped)}"] if event.slipped else []
    said += [f"set, not in force: {', '.join(event.waiting)}"] if event.waiting else []
    said += [f"not in force: {describe_pending_settings(event)}"] if event.behind else []
    said += [f"worse: {event.worse}"] if event.worse else []
    return ". ".join(said)


def _describe_engines(event: kinds.RunQueued) -> str:
    if not event.simulated:
        return "real engines"
    pace = f"at {event.pace:g} times the measured pace" if event.pace else "as fast as they can"
    return f"SIMULATED engines, {pace}"


def _describe_item_event(event: Event) -> tuple[str, str, str] | None:
    match event:
        case kinds.ItemStarted():
            return "●", "plain", f"{event.rule} taken up: {event.title}"
        case kinds.ItemPassed():
            return "✓", "passed", f"{event.rule} passed at attempt {event.attempts}"
        case kinds.ItemEscalated():
            return "▲", "escalated", f"{event.rule} escalated: {event.reason}"
        case kinds.ItemSkipped(waiver=waiver) if waiver:
            return "○", "waived", f"{event.rule} left alone: {event.reason}"
        case kinds.ItemSkipped():
            return "–", "skipped", f"{event.rule} skipped: {event.reason}"
        case kinds.ItemDeferred():
            return "◷", "deferred", f"{event.rule} deferred: {event.reason}"
        case _:
            return None


def _describe_attempt_event(event: Event) -> tuple[str, str, str] | None:
    match event:
        case kinds.AttemptStarted(offered=ProvenFix() as fix):
            return (
                "·",
                "plain",
                f"Attempt {event.attempt} is {fix.provenance}: the same files, the same rule, no plan asked",
            )
        case kinds.AttemptStarted(vendor=True):
            return (
                "!",
                "plain",
                f"Attempt {event.attempt} is the last resort: the vendor's script, if a person approves it",
            )
        case kinds.FixProven():
            return "·", "plain", "The change is kept for hosts with the same files"
        case kinds.ActionRefused():
            return "✗", "refused", f"Policy refused the change ({event.clause}): {event.reason}"
        case kinds.ActionApplied():
            return "·", "plain", _describe_change(event)
        case kinds.ActionFailedToApply():
            return "✗", "refused", f"Nothing was changed: {event.reason}"
        case kinds.VerdictGiven(phase="attempt"):
            return "·", "plain", f"Scanner ({event.scanner}): {event.word}. {event.evidence}"
        case kinds.VerdictExplained(veto=True):
            return "✗", "refused", f"Auditor vetoed the pass: {event.reason}"
        case kinds.SentryAlarm():
            return "!", "alarm", f"Sentry alarm: {event.reason}"
        case kinds.ActionRolledBack():
            how = "verified" if not event.differences else f"NOT restored: {event.differences[0]}"
            return "↺", "undone", f"Rolled back in {event.seconds * 1000:.0f} ms, {how}"
        case kinds.InForceChecked() if event.behind:
            return "!", "plain", f"Set, not in force: {describe_pending_settings(event)}"
        case kinds.LessonLearnt():
            return "·", "plain", f"Lesson: {event.lesson.advice}"
        case kinds.AttemptReflected(decision="PIVOT" | "ESCALATE"):
            return "·", "plain", f"Architect decides to {event.decision}: {event.reason}"
        case kinds.TurnFinished() if event.outcome != "answered":
            return "✗", "refused", f"{event.role.capitalize()}'s turn came to nothing ({event.outcome}): {event.detail}"
        case kinds.TurnInterrupted():
            return "·", "plain", f"Turn interrupted: {event.reason}"
        case _:
            return None


def _describe_change(event: kinds.ActionApplied) -> str:
    paths = [change.path for change in event.changes]
    others = [path for path in paths if not path.startswith(VENDOR.prefix)]
    who = "Worker" if others == paths else "The vendor's script"
    return f"{who} changed {', '.join(others) or 'no file'}"


def _describe_person_event(event: Event) -> tuple[str, str, str] | None:
    match event:
        case kinds.RunPaused():
            return "‖", "plain", f"Paused by {event.by}"
        case kinds.ApprovalRequested():
            return "?", "plain", _describe_approval_request(event)
        case kinds.ApprovalGiven(given=given, of=of) if of > 1:
            waits = describe_missing_approvals(of, given)
            how_far = f", {waits}" if waits else f", {given} of {of}"
            return "?" if waits else "·", "plain", f"Change approved by {event.by}{how_far}. {event.reason}"
        case kinds.ApprovalGiven() | kinds.ApprovalRefused():
            word = "approved" if isinstance(event, kinds.ApprovalGiven) else "refused"
            return "·", "plain", f"Change {word} by {event.by}. {event.reason}"
        case kinds.ApprovalEdited():
            return "·", "plain", f"Change edited by {event.by}: it is judged and asked about anew. {event.reason}"
        case kinds.ApprovalExpired():
            return "·", "plain", f"Approval void: {event.reason}"
        case _:
            return None


def _describe_approval_request(event: kinds.ApprovalRequested) -> str:
    if event.needs is None or event.needs.people == 1:
        by = f" ({event.needs.why}, by {event.needs.by})" if event.needs and event.needs.sha256 else ""
        return f"{event.rule} waits for a person to approve its change{by}"
    return f"{event.rule} waits for two people to approve its change: {event.needs.why}, by {event.needs.by}"
