"""Text about one rule for the papers: the scanner's finding, and what was done."""

from typing import assert_never

from app.events.event_field_types import describe_pending_settings
from app.events.kinds import ApprovalEdited, ApprovalExpired, ApprovalGiven, ApprovalRefused, VerdictGiven
from app.evidence.run_record import Answer, AttemptRecord, RuleRecord, RunRecord
from app.text.clean import clean_text

_LONGEST = 50_000


def describe_scanner_verdicts(case: RunRecord, rule_record: RuleRecord) -> str:
    """Return the scanner's verdicts as text, the one that decides the status first."""
    if rule_record.left_out:
        return _join_clean_lines([rule_record.left_out])
    if rule_record.rule.id not in case.request.rules:
        return f"Not part of run {case.run}."
    unscanned = f"There was no closing scan: the run {case.state.status} before it. The status is open to review."
    when = "After the run and its reboot" if case.state.reboot.returned else "After the run"
    sentences = [f"{when}, {format_scanner_verdict(rule_record.closing)}" if rule_record.closing else unscanned]
    if waits := _describe_not_in_force(rule_record):
        sentences.append(waits)
    if rule_record.opening:
        sentences.append(f"Before the run, {format_scanner_verdict(rule_record.opening)}")
    sentences += [used.summary for used in rule_record.used]
    return _join_clean_lines(sentences)


def _describe_not_in_force(rule_record: RuleRecord) -> str:
    """Return a note if the file has the setting but the running system does not use it yet; else empty."""
    force = rule_record.tried[-1].attempt.force if rule_record.tried else None
    return f"Set, not in force: {describe_pending_settings(force.behind)}" if force and force.behind else ""


def format_scanner_verdict(verdict: VerdictGiven) -> str:
    """Return the verdict as a sentence that begins with the scanner's name."""
    line = f" line {verdict.line}" if verdict.line else ""
    place = f" ({verdict.path}{line})" if verdict.path and verdict.path not in verdict.evidence else ""
    return f"scanner {verdict.scanner} says {verdict.word}: {verdict.evidence}{place}"


def describe_outcome(case: RunRecord, rule_record: RuleRecord) -> str:
    if rule_record.left_out:
        return "not applicable by tailoring"
    item, compared = rule_record.item, case.state.reboot.compared
    if item is None:
        if rule_record.rule.id not in case.request.rules:
            return "not part of the run"
        if rule_record.opening is None:
            return "not scanned"
        if rule_record.opening.word == "pass":
            return "passed before the run; nothing was done"
        return f"not attempted: the scanner said {rule_record.opening.word}"
    if item.status == "passed":
        how = f"at attempt {len(rule_record.tried)}" if rule_record.tried else "because of a change for another rule"
        if compared and rule_record.rule.id in compared.held:
            return f"passed {how}, and holds after the reboot"
        waits = _describe_not_in_force(rule_record)
        return f"passed {how}{f'; {waits[0].lower()}{waits[1:]}' if waits else ''}"
    if item.status == "waived":
        return "left alone, because it was waived"
    return f"{item.status}: {item.reason}" if item.reason else item.status


def describe_actions_taken(case: RunRecord, rule_record: RuleRecord) -> str:
    """Return the waiver, the outcome and each attempt, one line each."""
    lines = [rule_record.waiver.summary] if rule_record.waiver else []
    outcome = describe_outcome(case, rule_record)
    lines.append(f"Run {case.run} on {case.request.host}, mode {case.request.mode}: {outcome}.")
    lines += [
        f"Attempt {tried.attempt.number}: {'; '.join(_list_attempt_steps(tried))}." for tried in rule_record.tried
    ]
    if case.simulated:
        lines.append(f"SIMULATED: {case.simulated}.")
    return _join_clean_lines(lines)


def _join_clean_lines(lines: list[str]) -> str:
    return clean_text("\n".join(lines), _LONGEST)


def _list_attempt_steps(tried: AttemptRecord) -> list[str]:
    attempt = tried.attempt
    steps = [attempt.offered.provenance] if attempt.offered and attempt.replayed_fix_id else []
    steps += [describe_approval_answer(answer) for answer in tried.answers]
    if attempt.applied:
        steps.append(f"changed {', '.join(change.path for change in attempt.applied.changes)}")
    if attempt.failed:
        steps.append(f"{attempt.failed.cause}: {attempt.failed.reason}")
    if attempt.rolled_back:
        left = attempt.rolled_back.differences
        steps.append(f"rollback left {left[0]}" if left else "rolled back, and the rollback verified")
    elif attempt.clear:
        steps.append("kept")
    return steps or ["nothing was changed"]


def describe_approval_answer(answer: Answer) -> str:
    match answer:
        case ApprovalGiven():
            text = f"approved by {answer.approver_text}" + (f", {answer.given} of {answer.of}" if answer.of > 1 else "")
        case ApprovalRefused():
            text = f"refused by {answer.by}"
        case ApprovalEdited():
            text = f"edited by {answer.by}"
        case ApprovalExpired():
            text = "approval void"
        case _:
            assert_never(answer)
    return f"{text}: {answer.reason}" if answer.reason else text
