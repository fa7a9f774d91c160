"""Decides what the reboot at the end of a run needs next. Pure, as `decide_next_effect`, which calls it."""

from app.loop import effects
from app.loop.effects import Effect
from app.loop.harm_seen_by_probes import find_first_harm_after_reboot, find_rollback_leftover
from app.loop.state import RunState

NOT_SURVIVED = "does not survive a reboot"
NOT_HELD = "does not hold after the reboot"


def decide_reboot(state: RunState, now: float) -> Effect | None:
    """Return what comes before the reboot; None if none was asked for, or if it is over."""
    reboot = state.reboot
    assert state.request
    assert state.started
    if not state.request.reboot or reboot.skipped or reboot.announced:
        return None
    if not list_fixed_rules(state):
        return effects.SkipReboot("this run changed nothing that a reboot could undo")
    if state.started.disposable or reboot.is_approved:
        return effects.Reboot()
    if reboot.disapproved:
        return effects.SkipReboot(f"{reboot.disapproved.by} refused: {reboot.disapproved.reason}")
    if reboot.expired:
        return effects.SkipReboot(reboot.expired.reason)
    if reboot.approval is None:
        return effects.AskForReboot()
    return effects.ExpireApproval() if now >= reboot.approval.expires else effects.Wait(reboot.approval.expires)


def decide_after_reboot_announcement(state: RunState) -> Effect | None:
    """Return what an announced reboot needs until the host is well again; None if nothing is left to do."""
    reboot = state.reboot
    if reboot.announced is None or reboot.skipped:
        return None
    if reboot.is_awaited:
        return effects.AwaitReboot()
    harm = describe_harm_after_reboot(state)
    if not harm:
        return None
    if reboot.undone is None and (reboot.returned or reboot.announced.snapshot):
        return effects.UndoRun()
    if reboot.undone:
        harm = find_rollback_leftover("the rollback after the reboot", reboot.undone, state.baseline_probes) or ""
    return _decide_next_reopening_or_halt(state, harm) if harm else None


def decide_comparison_or_reopening_after_reboot(state: RunState) -> Effect | None:
    """Return what follows from the closing scan after a reboot; None if nothing does."""
    reboot = state.reboot
    if not reboot.is_announced_and_unskipped:
        return None
    if reboot.compared is None:
        return effects.CompareReboot()
    left = (rule for rule in reboot.compared.lost if state.items[rule].status == "passed")
    return next((effects.ReopenItem(rule, explain_loss(state, rule)) for rule in left), None)


def list_fixed_rules(state: RunState) -> tuple[str, ...]:
    """Return the rules whose change this run made and kept, in the order of the changes."""
    fixed = [one for one in state.items.values() if one.status == "passed" and one.attempt and one.attempt.applied]
    return tuple(one.rule for one in sorted(fixed, key=lambda one: one.ended))


def list_fix_journals(state: RunState) -> tuple[str, ...]:
    """Return the journals of these changes, the newest first: the order in which they can be rolled back."""
    attempts = (state.items[rule].attempt for rule in reversed(list_fixed_rules(state)))
    return tuple(one.applied.journal for one in attempts if one and one.applied)


def describe_harm_after_reboot(state: RunState) -> str:
    """Return why the host is not well after its reboot, or an empty string."""
    reboot = state.reboot
    if reboot.lost:
        return f"{reboot.lost.host} did not come back within {reboot.lost.seconds:.0f} s ({reboot.lost.reason})"
    if reboot.returned is None:
        return ""
    if reboot.returned.undone:
        return f"no login confirmed it in time, so {reboot.returned.host} took it back"
    return find_first_harm_after_reboot(state.baseline_probes, reboot.returned.probes) or ""


def explain_loss(state: RunState, rule: str) -> str:
    """Return why a fix counts as lost after the reboot."""
    if harm := describe_harm_after_reboot(state):
        back = "; its change was rolled back" if state.reboot.undone else ""
        return f"{NOT_SURVIVED}: {harm}{back}"
    verdict = state.closing.get(rule)
    if verdict is None:
        return f"{NOT_SURVIVED}: the closing scan has no verdict"
    if verdict.word == "fail" and _has_later_change(state, rule):
        return f"{NOT_HELD}: {verdict.evidence}. The reboot undid it, or a later change of this run did"
    if verdict.word == "fail":
        return f"{NOT_SURVIVED}: {verdict.evidence}"
    return f"nothing shows that it survives a reboot: the scanner says {verdict.word}: {verdict.evidence}"


def _has_later_change(state: RunState, rule: str) -> bool:
    """Return whether the run kept a change that it made after this rule's."""
    ended = state.items[rule].ended
    kept = (one for one in state.items.values() if one.ended > ended and one.attempt and one.attempt.applied)
    return any(one.attempt and one.attempt.rolled_back is None for one in kept)


def _decide_next_reopening_or_halt(state: RunState, reason: str) -> Effect:
    """Reopen every fix, since none is known to hold, and halt."""
    for rule in list_fixed_rules(state):
        return effects.ReopenItem(rule, explain_loss(state, rule))
    return effects.Halt(f"{reason}{_advise_on_lost_host(state)}")


def _advise_on_lost_host(state: RunState) -> str:
    reboot = state.reboot
    if reboot.lost is None or reboot.undone:
        return ""
    assert reboot.announced
    back = reboot.announced.undo_seconds
    promise = f" Once it starts, it takes this run's changes back by itself after {back} s." if back else ""
    return f". Look at its console.{promise}"
