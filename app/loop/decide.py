"""Decides the next effect of a run. Pure: the same state and time give the same effect."""

from app.events.event_field_types import Mode
from app.loop import effects
from app.loop.attempt_limit import find_reason_to_stop_attempts
from app.loop.attempt_state import Attempt
from app.loop.effects import Effect
from app.loop.harm_seen_by_probes import find_first_harm, find_rollback_leftover
from app.loop.reboot_decisions import (
    decide_after_reboot_announcement,
    decide_comparison_or_reopening_after_reboot,
    decide_reboot,
)
from app.loop.state import (
    Item,
    RunState,
    explain_time_or_token_overspending,
    find_active_waiver,
    get_seconds_for_next_turn,
)
from app.skills.skill import Rule, Skill

MOST_FRUITLESS_TURNS = 3
"""Turns without a usable answer after which the question is dropped."""

_LEFT = "; the content has a script of its own, which a person decides about: run the rule in review mode"

NO_LONGER_APPLIES = "a change for another rule made this one not applicable"
_NEEDS_PERSON = "cannot be undone, so a person decides: run it in review mode"


def decide_next_effect(state: RunState, skill: Skill, now: float) -> Effect:
    if state.ended:
        return effects.Done()
    if state.request is None:
        return effects.Halt("the log does not begin with a queued run")
    if state.turn:
        return effects.CloseCrashedTurn(state.turn.turn)
    if state.waiting and state.waiting.cause != "engine":
        return effects.WaitOut()  # nothing can be rolled back meanwhile either
    if cut := _decide_rollback_after_interruption(state):
        return cut
    rollback = state.attempt.rolled_back if state.attempt else None
    if rollback and (broken := find_rollback_leftover("the rollback", rollback, state.baseline_probes)):
        return effects.Halt(broken)
    if course := decide_after_reboot_announcement(state):
        return course
    if state.stopping:
        return _decide_next_stop_step(state)
    if state.waiting:
        return effects.WaitOut()
    if state.started is None:
        return effects.Start()
    if state.must_wait_for_resume:
        return effects.Wait(None)
    if "opening" not in state.scanned:
        return effects.Scan("opening")
    if state.scope is None:
        return effects.Scope()
    if state.item:
        return _decide_for_item(state, state.item, skill.rules[state.item.rule], now)
    return (
        _decide_next_item_start_or_close(state, skill, now)
        or decide_reboot(state, now)
        or _decide_closing_scan_or_finish(state)
    )


def _decide_rollback_after_interruption(state: RunState) -> Effect | None:
    """Roll back a change or continue a rollback that a crash or a fault interrupted; None if there is none.

    While the run waits for an engine, only a change that the probes found harmless stays on the host. Another one is
    applied again afterwards.
    """
    attempt = state.attempt
    if attempt is None or attempt.journal is None:
        return None
    unproven = state.waiting and attempt.failed is None and not is_host_proven_unharmed_after_change(state, attempt)
    if attempt.rolling_back or not attempt.has_apply_outcome or unproven:
        cause = attempt.failed.cause if attempt.failed else "interrupted"
        return effects.RollBack(attempt.journal, cause)
    return None


def is_host_proven_unharmed_after_change(state: RunState, attempt: Attempt) -> bool:
    """Return whether the probes found the host as well after the change as before the run."""
    probed = attempt.probed
    return probed is not None and not (probed.drift or find_first_harm(state.baseline_probes, probed.probes))


def _decide_next_stop_step(state: RunState) -> Effect:
    assert state.stopping
    reason = f"stopped by {state.stopping.by}"
    if (attempt := state.attempt) and attempt.journal:
        if attempt.failed is None:
            return effects.FailAttempt("interrupted", reason)
        return effects.RollBack(attempt.journal, reason)
    for waiting in state.items.values():
        if waiting.status in ("waiting", "working"):
            return effects.CloseItem(waiting.rule, "skipped", reason)
    return effects.Stop()


def _decide_next_item_start_or_close(state: RunState, skill: Skill, now: float) -> Effect | None:
    request = state.request
    assert request
    late = now - state.started_at > request.budget.run_seconds
    for item in state.items.values():
        if item.status != "waiting":
            continue
        rule = skill.rules[item.rule]
        if waiver := find_active_waiver(state, item.rule, now):
            return effects.CloseItem(item.rule, "skipped", waiver.summary, waiver.id)
        if request.mode == "scan":
            return effects.CloseItem(item.rule, "skipped", "only looked at, as the run was asked to")
        if late:
            return effects.CloseItem(item.rule, "deferred", "the run's time is spent; start another for what is left")
        if blocker := _find_unmet_dependency(state, rule):
            return effects.CloseItem(item.rule, "deferred", f"waits for {blocker}, which did not pass")
        if rule.irreversible and request.mode == "auto" and not _has_approval_policy(state):
            return effects.CloseItem(item.rule, "deferred", _NEEDS_PERSON)
        return effects.StartItem(item.rule)
    return None


def _can_ask_people(state: RunState) -> bool:
    return _has_approval_policy(state) or _get_mode(state) == "review"


def _get_mode(state: RunState) -> Mode:
    assert state.request
    return state.request.mode


def _has_approval_policy(state: RunState) -> bool:
    """Return whether a policy decides who approves, in any mode that changes the host."""
    assert state.started
    return state.started.approvals is not None


def _find_unmet_dependency(state: RunState, rule: Rule) -> str | None:
    assert state.scope
    for needed in rule.depends:
        item = state.items.get(needed)
        if item and item.status != "passed" and _get_mode(state) != "dry-run":
            return needed
        if needed in state.scope.undecided:
            return needed
    return None


def _decide_closing_scan_or_finish(state: RunState) -> Effect:
    """Finish, after a closing scan if the run may have changed something. After a reboot, compare what still holds."""
    looked = _get_mode(state) == "scan" or "closing" in state.scanned
    return (
        (decide_comparison_or_reopening_after_reboot(state) or effects.Finish()) if looked else effects.Scan("closing")
    )


def _decide_for_item(state: RunState, item: Item, rule: Rule, now: float) -> Effect:
    attempt = item.attempt
    if attempt is None:
        return _decide_recheck(state, item, rule) or effects.StartAttempt(rule.id, 1)
    if attempt.failed:
        return _decide_after_failure(state, item, attempt, rule, now)
    if _get_mode(state) == "dry-run" and attempt.rehearsed:
        return effects.CloseItem(rule.id, "skipped", f"dry run: the scanner would say {attempt.rehearsed.word}")
    if attempt.expired:
        return effects.CloseItem(rule.id, "deferred", attempt.expired.reason)
    if attempt.clear:
        return effects.CloseItem(rule.id, "passed")
    if attempt.awaits_person:
        return _decide_while_approval_is_missing(attempt, now)
    if over := explain_time_or_token_overspending(item, state, now):
        return effects.FailAttempt("over budget", over)
    return _decide_attempt_step(state, item, attempt, rule, now)


def _decide_recheck(state: RunState, item: Item, rule: Rule) -> Effect | None:
    """Return the way to learn whether changes for other rules already settled this one; None if it is still a finding.

    Rules of a content overlap: what one of them asks for may be what another asks, or make it no longer apply.
    """
    changes_host = _get_mode(state) in ("auto", "review")
    if not (rule.foreign and changes_host and any(one.status == "passed" for one in state.items.values())):
        return None
    if item.rechecked is None:
        return effects.Recheck()
    if item.rechecked.word == "pass":
        return effects.CloseItem(rule.id, "passed")
    if item.rechecked.word == "notapplicable":
        return effects.CloseItem(rule.id, "skipped", f"{NO_LONGER_APPLIES}: {item.rechecked.evidence}")
    return None


def _decide_attempt_step(state: RunState, item: Item, attempt: Attempt, rule: Rule, now: float) -> Effect:
    left = get_seconds_for_next_turn(state, item, now)
    if attempt.plan is None and attempt.offered:
        return effects.Repeat()
    if attempt.vendor and attempt.proposed is None and not attempt.edited:
        return effects.TakeVendors()
    if attempt.plan is None and state.takes_proposals_in_order:
        number = next(iter(item.usable_candidates_by_number), 0)
        return effects.TakeCandidate(number) if number else effects.FailAttempt("refused", _explain_no_candidate(item))
    if attempt.plan is None:
        return _ask_role_or_use_default_or_fail(state, attempt, effects.Ask("architect", "plan", left))
    if attempt.proposed is None and attempt.edited:
        return effects.Propose()
    if attempt.proposed is None and attempt.plan.candidate:
        return effects.TakeCandidate(attempt.plan.candidate)
    if attempt.proposed is None:
        return _ask_role_or_use_default_or_fail(state, attempt, effects.Ask("worker", "act", left))
    if attempt.refused:
        return effects.FailAttempt("refused", f"{attempt.refused.clause}: {attempt.refused.reason}")
    if not attempt.allowed:
        return effects.Judge()
    mode = _get_mode(state)
    if mode == "dry-run" or (attempt.replayed_fix_id and attempt.rehearsed is None):
        return effects.Rehearse()
    if attempt.replayed_fix_id and attempt.rehearsed and attempt.rehearsed.word in ("fail", "error"):
        return effects.FailAttempt("scanner", f"on a copy: {attempt.rehearsed.evidence}")
    asks = attempt.needs.people > 0 if attempt.needs else mode == "review" or rule.irreversible
    if asks and not attempt.is_approved and not _can_ask_people(state):
        return effects.CloseItem(rule.id, "deferred", _NEEDS_PERSON)
    if asks and not attempt.is_approved:
        return _decide_while_approval_is_missing(attempt, now) if attempt.rehearsed else effects.Rehearse()
    if attempt.change_failed:
        return effects.FailAttempt("change failed", attempt.change_failed.reason)
    if attempt.applied is None:
        return effects.Apply()
    if attempt.verdict is None:
        return effects.Verify()
    if attempt.explained is None:
        return _ask_role_or_use_default_or_fail(state, attempt, effects.Ask("auditor", "review", left))
    if attempt.verdict.word != "pass":
        return effects.FailAttempt("scanner", f"the scanner says {attempt.verdict.word}: {attempt.verdict.evidence}")
    if attempt.explained.veto:
        return effects.FailAttempt("vetoed", f"gamed, not fixed: {attempt.explained.reason}")
    if attempt.probed is None:
        return effects.Watch()
    if attempt.alarm:
        return effects.FailAttempt("alarm", attempt.alarm.reason)
    return _ask_role_or_use_default_or_fail(state, attempt, effects.Ask("sentry", "triage", left))


_ALL_TRIED = "no model is asked, and all that is proposed was tried"


def _explain_no_candidate(item: Item) -> str:
    """Return why no candidate is left to try."""
    usable = sum(one.is_usable for one in item.candidates)
    if usable:
        last = next((one.reason for one in reversed(item.failures) if not one.reason.startswith(_ALL_TRIED)), "")
        return f"{_ALL_TRIED}{last and f'; the last: {last}'}"
    if decision := next((one for one in item.candidates if one.question), None):
        return f"a person decides: {decision.gap}"
    told = [f"{one.source}: {one.refusal or one.gap}" for one in item.candidates]
    return f"no model is asked, and nothing is proposed that can be done here. {' '.join(told)}".strip()


def _ask_role_or_use_default_or_fail(state: RunState, attempt: Attempt, ask: effects.Ask) -> Effect:
    if attempt.fruitless < MOST_FRUITLESS_TURNS and not state.has_no_model:
        return ask
    if ask.purpose in ("review", "triage", "reflect"):
        return effects.UseSafeDefault(ask.purpose)
    if state.has_no_model:
        return effects.FailAttempt("refused", f"no model is asked, so no {ask.role} writes another change")
    return effects.FailAttempt("engine", f"the {ask.role} gave no usable answer in {MOST_FRUITLESS_TURNS} turns")


def _decide_while_approval_is_missing(attempt: Attempt, now: float) -> Effect:
    if attempt.disapproved:
        return effects.FailAttempt("disapproved", f"{attempt.disapproved.by} refused: {attempt.disapproved.reason}")
    if attempt.approval is None:
        return effects.RequestApproval()
    if now >= attempt.approval.expires:
        return effects.ExpireApproval()
    return effects.Wait(attempt.approval.expires)


def _decide_after_failure(state: RunState, item: Item, attempt: Attempt, rule: Rule, now: float) -> Effect:
    failed = attempt.failed
    assert failed
    if attempt.has_apply_outcome and attempt.rolled_back is None:
        if attempt.facts is None and not state.takes_proposals_in_order:  # they are for the Architect
            return effects.GatherFacts()
        return effects.RollBack(attempt.journal or "", failed.cause)
    if failed.cause == "over budget":
        return effects.CloseItem(rule.id, "escalated", failed.reason)
    if attempt.reflected is None:
        unmade = attempt.vendor or (attempt.replayed_fix_id and not attempt.has_apply_outcome)
        teaches_nothing = unmade or state.takes_proposals_in_order or failed.cause == "engine"
        if (
            teaches_nothing
            or attempt.fruitless >= MOST_FRUITLESS_TURNS
            or explain_time_or_token_overspending(item, state, now)
        ):
            return effects.UseSafeDefault("reflect")
        return effects.Ask("architect", "reflect", get_seconds_for_next_turn(state, item, now))
    if attempt.vendor:
        reason = f"the vendor's script, the last resort, did not pass either: {failed.reason}"
        return effects.CloseItem(rule.id, "escalated", reason)
    spent = attempt.why_roles_stopped or find_reason_to_stop_attempts(item, attempt, state.budget)
    if (
        state.has_no_model
        and not item.usable_candidates_by_number
        and not _can_trial_content_scripts(item, attempt, rule)
    ):
        spent = _explain_no_candidate(item)
    over = explain_time_or_token_overspending(item, state, now)
    # a role without a usable answer is an engine's fault, which a person looks at before more is changed
    is_engine_sound = failed.cause != "engine"
    if spent and not over and is_engine_sound and not state.has_no_model and item.usable_candidates_by_number:
        return effects.StartAttempt(rule.id, attempt.number + 1, why_roles_stopped=spent)
    if attempt.why_roles_stopped:
        spent = f"{attempt.why_roles_stopped.rstrip('.')}. What is proposed did not pass either: {failed.reason}"
    if spent and not (rule.remedy and _can_ask_people(state)):
        return effects.CloseItem(rule.id, "escalated", f"{spent}{_LEFT}" if rule.remedy else spent)
    if over:
        return effects.CloseItem(rule.id, "escalated", spent or over)
    return effects.StartAttempt(rule.id, attempt.number + 1, vendor=spent is not None)


def _can_trial_content_scripts(item: Item, attempt: Attempt, rule: Rule) -> bool:
    """Return True if another attempt may find a proposal in a script of the content."""
    return rule.foreign and attempt.proposed is not None and item.has_only_content_script_trial_left
