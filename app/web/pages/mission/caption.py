"""Describes the current step of a run in one or two sentences for a newcomer."""

from typing import assert_never

from app.events.event_field_types import Purpose
from app.events.kinds import RunFailed, RunFinished, RunStopped, SentryAlarm
from app.loop.reboot_decisions import describe_harm_after_reboot
from app.loop.state import RunState
from app.targets.health_probes import HEALTH_PROBES
from app.text.pluralized_counts import count_things
from app.web.pages.mission.attempts import AttemptView
from app.web.pages.mission.mission import Mission
from app.web.pages.templating import format_clock

AT_WORK: dict[Purpose, str] = {
    "plan": "The Architect is planning the fix.",
    "act": "The Worker is writing the change.",
    "review": "The Auditor is checking that the fix is real and not one that only fools the scanner.",
    "triage": "The Sentry is looking for damage: logins, sudo, services, files.",
    "reflect": "The Architect is working out why it failed.",
}


def write_caption(mission: Mission) -> str:
    state = mission.state
    if state.ended:
        return _describe_end(state)
    if state.status == "paused":
        return "Paused. Nothing changes until a person resumes the run."
    if state.waiting:
        return f"The run waits and resumes by itself. {state.waiting.reason}"
    if state.status == "queued":
        return "Queued: runs on the same host go one after the other."
    if state.started is None:
        return "Reading how the host is before any change: its logins, services and kernel settings."
    if state.scope is None:
        return f"Scanning the whole host{_describe_scan_progress(state)}. Nothing has been changed yet."
    if reboot := _describe_reboot(state):
        return reboot
    if state.item is None and all(item.status not in ("waiting", "working") for item in state.items.values()):
        return f"Scanning the whole host again{_describe_scan_progress(state)}."
    if state.item is None:
        return "On to the next finding."
    if state.stopping:
        return "Stopping. The unfinished change is rolled back first."
    attempt = mission.tries[-1] if mission.tries else None
    return _describe_attempt(mission, attempt) if attempt else "On to the next finding."


def _describe_scan_progress(state: RunState) -> str:
    at = state.scanning
    return f": {at.judged} of {count_things(at.rules, 'rule')}" if at else ""


def _describe_reboot(state: RunState) -> str:
    """Return what the reboot at the end does now; an empty string before it and once it is over."""
    reboot, request = state.reboot, state.request
    if reboot.awaits_person and request:
        second = "a second person" if reboot.given else "two people" if reboot.people_required > 1 else "a person"
        return f"{request.host} is rebooted once {second} approve{'' if second == 'two people' else 's'} it."
    if reboot.announced is None or not reboot.is_announced_and_unskipped:
        return ""
    host, until = reboot.announced.host, format_clock(reboot.announced.until)[:5]
    if reboot.is_awaited:
        return f"Rebooting {host}; waiting for it until {until} UTC."
    if reboot.undone is None and describe_harm_after_reboot(state):
        return f"{host} is not well after its reboot. Undoing this run's changes."
    if "closing" in state.scanned:
        return ""
    return f"{host} is back. Scanning the whole host again{_describe_scan_progress(state)}."


def _describe_end(state: RunState) -> str:
    match state.ended:
        case RunFinished() if state.reboot.compared:
            return f"The run is finished. {state.reboot.compared.describe().text}; every change is on record."
        case RunFinished():
            return "The run is finished. The whole host was scanned again, and every change is on record."
        case RunStopped() as event:
            return f"Stopped by {event.by}. The unfinished change was rolled back."
        case RunFailed() as event:
            return f"The run failed: {event.reason}"
        case None:
            return ""
        case _:
            assert_never(state.ended)


def _describe_attempt(mission: Mission, attempt: AttemptView) -> str:
    item = mission.state.item
    if item and item.attempt and item.attempt.awaits_person:
        if item.attempt.given:
            return "One of two people approved this change. It waits for the second."
        asked = "Two people are" if item.attempt.people_required > 1 else "A person is"
        return f"{asked} asked before this change is made."
    if attempt.failed:
        return _describe_failed_attempt(mission, attempt)
    working = mission.state.turn
    if working and working.purpose == "plan" and attempt.number > 1:
        return f"The Architect is planning attempt {attempt.number}, knowing why the last one failed."
    if working and working.purpose == "review" and attempt.verdict and attempt.verdict.word != "pass":
        return f"{_describe_scanner_verdict(attempt)}The Auditor is reading the reason."
    if working:
        return f"{_describe_scanner_verdict(attempt)}{AT_WORK[working.purpose]}"
    if attempt.offered and not attempt.applied:
        return f"Trying the fix that passed on {attempt.offered.host}: the same files, the same rule."
    if attempt.alarm:
        return f"{describe_alarm(attempt.alarm)} Undoing."
    if attempt.clear:
        return "Fixed, and no harm found."
    if attempt.verdict:
        return _describe_scanner_verdict(attempt).strip() or AT_WORK["triage"]
    if attempt.applied:
        return "The change is made. The scanner is checking it."
    if attempt.proposed:
        return "The change is written. The policy and the host are checking it."
    if mission.state.takes_proposals_in_order:
        return "The next proposal is tried, without a plan of a role."
    return (
        "The plan is ready. The Worker writes the change next." if attempt.plan else "The Architect plans the fix next."
    )


def _describe_scanner_verdict(attempt: AttemptView) -> str:
    if attempt.explained or not attempt.verdict:
        return ""
    return f"The scanner says {attempt.verdict.word}. "


def describe_who_was_harmed(alarm: SentryAlarm) -> str:
    """Return whom or what the change harmed, if a probe found it; otherwise nothing."""
    probe = HEALTH_PROBES.get(alarm.reason.partition(":")[0])
    return probe.harm if probe and alarm.by == "probe" else ""


def describe_alarm(alarm: SentryAlarm) -> str:
    if harm := describe_who_was_harmed(alarm):
        return f"The Sentry found {harm}."
    return f"The Sentry raised an alarm: {alarm.reason.rstrip('.')}."


def _describe_failed_attempt(mission: Mission, attempt: AttemptView) -> str:
    said = _explain_failed_attempt(attempt)
    if attempt.undone:
        said += " The rollback left differences." if attempt.undone.differences else " Undone, verified byte for byte."
    elif attempt.applied:
        said += " Undoing."
    if attempt.lesson:
        return f"{said} A lesson is recorded."
    learning = mission.state.turn and mission.state.turn.purpose == "reflect"
    return f"{said} The Architect is working out why." if learning else said


def _explain_failed_attempt(attempt: AttemptView) -> str:
    if attempt.alarm:
        return describe_alarm(attempt.alarm)
    if attempt.explained and attempt.explained.veto:
        return "The Auditor vetoed it: the scanner was fooled, and nothing was fixed."
    if attempt.refused:
        return "The policy refused this change before anything ran."
    if attempt.verdict and attempt.verdict.word != "pass":
        return f"The scanner still says {attempt.verdict.word}."
    return f"This attempt failed: {attempt.failed.reason.rstrip('.')}." if attempt.failed else ""
