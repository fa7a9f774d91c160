"""Decides the next effect of a run. Pure: the same state and time give the same effect."""

from app.events.vocabulary import Budget
from app.loop.attempt import Attempt
from app.loop.effects import (
    Apply,
    Ask,
    CloseItem,
    Done,
    DoWithout,
    Effect,
    ExpireApproval,
    FailAttempt,
    Finish,
    GatherFacts,
    Halt,
    Interrupt,
    Judge,
    Propose,
    Rehearse,
    Repeat,
    RequestApproval,
    RollBack,
    Scan,
    Scope,
    Start,
    StartAttempt,
    StartItem,
    Stop,
    TakeVendors,
    Verify,
    Wait,
    Watch,
)
from app.loop.harm import describe_harm
from app.loop.state import Item, RunState, explain_overspending, get_seconds_left
from app.loop.waiver_matching import find_active_waiver
from app.skills.skill import Rule, Skill

FRUITLESS = 3
"""Turns without a usable answer after which the question is dropped."""
WEIGH_EVERY = 3
"""Every how many attempts the Architect decides to continue, pivot or escalate."""
GAP_AFTER = 4
"""Number of distinct harmless approaches that fail before the scanner is suspected."""

_LEFT = "; the content has a script of its own, which a person decides about: run the rule in review mode"


def decide_next_effect(state: RunState, skill: Skill, now: float) -> Effect:
    if state.ended:
        return Done()
    if state.request is None:
        return Halt("the log does not begin with a queued run")
    if state.turn:
        return Interrupt(state.turn.turn)
    if cut := _close_open_change(state):
        return cut
    if broken := _find_unrestored_harm(state):
        return Halt(broken)
    if state.stopping:
        return _stop_run(state)
    if state.started is None:
        return Start()
    if state.status == "paused" and not _has_open_change(state):
        return Wait(None)
    if "opening" not in state.scanned:
        return Scan("opening")
    if state.scope is None:
        return Scope()
    if state.item:
        return _decide_for_item(state, state.item, skill.rules[state.item.rule], now)
    return _choose_next_item(state, skill, now) or _close_run(state)


def _close_open_change(state: RunState) -> Effect | None:
    """Roll back a change or continue a rollback that a crash interrupted; None if there is none."""
    attempt = state.item.attempt if state.item else None
    if attempt is None or attempt.journal is None:
        return None
    if attempt.rolling_back or not attempt.has_changed_host:
        cause = attempt.failed.cause if attempt.failed else "interrupted"
        return RollBack(attempt.journal, cause)
    return None


def _has_open_change(state: RunState) -> bool:
    """Return whether a change is applied but not kept or rolled back, which happens before a run pauses."""
    attempt = state.item.attempt if state.item else None
    return attempt is not None and attempt.journal is not None


def _stop_run(state: RunState) -> Effect:
    assert state.stopping
    reason = f"stopped by {state.stopping.by}"
    item = state.item
    if item and item.attempt and item.attempt.journal:
        if item.attempt.failed is None:
            return FailAttempt("interrupted", reason)
        return RollBack(item.attempt.journal, reason)
    for waiting in state.items.values():
        if waiting.status in ("waiting", "working"):
            return CloseItem(waiting.rule, "skipped", reason)
    return Stop()


def _choose_next_item(state: RunState, skill: Skill, now: float) -> Effect | None:
    request = state.request
    assert request
    late = now - state.started_at > request.budget.run_seconds
    for item in state.items.values():
        if item.status != "waiting":
            continue
        rule = skill.rules[item.rule]
        if waiver := find_active_waiver(state, item.rule, now):
            return CloseItem(item.rule, "skipped", waiver.summary, waiver.id)
        if request.mode == "scan":
            return CloseItem(item.rule, "skipped", "only looked at, as the run was asked to")
        if late:
            return CloseItem(item.rule, "deferred", "the run's time is spent; start another for what is left")
        if blocker := _find_unmet_dependency(state, rule):
            return CloseItem(item.rule, "deferred", f"waits for {blocker}, which did not pass")
        if rule.irreversible and request.mode == "auto" and not _has_policy(state):
            return CloseItem(item.rule, "deferred", "cannot be undone, so a person decides: run it in review mode")
        return StartItem(item.rule)
    return None


def _can_ask_people(state: RunState) -> bool:
    return _has_policy(state) or (state.request is not None and state.request.mode == "review")


def _has_policy(state: RunState) -> bool:
    """Return whether a policy decides who approves, in any mode that changes the host."""
    return state.started is not None and state.started.approvals is not None


def _find_unmet_dependency(state: RunState, rule: Rule) -> str | None:
    assert state.scope
    assert state.request
    for needed in rule.depends:
        item = state.items.get(needed)
        if item and item.status != "passed" and state.request.mode != "dry-run":
            return needed
        if needed in state.scope.undecided:
            return needed
    return None


def _close_run(state: RunState) -> Effect:
    """Finish, after a closing scan if the run may have changed something."""
    assert state.request
    looked = state.request.mode == "scan" or "closing" in state.scanned
    return Finish() if looked else Scan("closing")


def _decide_for_item(state: RunState, item: Item, rule: Rule, now: float) -> Effect:
    attempt = item.attempt
    if attempt is None:
        return StartAttempt(rule.id, 1)
    if attempt.failed:
        return _handle_failure(state, item, attempt, rule, now)
    if state.request and state.request.mode == "dry-run" and attempt.rehearsed:
        return CloseItem(rule.id, "skipped", f"dry run: the scanner would say {attempt.rehearsed.word}")
    if attempt.expired:
        return CloseItem(rule.id, "deferred", attempt.expired.reason)
    if attempt.clear:
        return CloseItem(rule.id, "passed")
    if attempt.awaits_person:
        return _decide_approval(attempt, now)
    if over := explain_overspending(item, state, now):
        return FailAttempt("over budget", over)
    return _take_next_step(state, item, attempt, rule, now)


def _take_next_step(state: RunState, item: Item, attempt: Attempt, rule: Rule, now: float) -> Effect:
    """Return the first missing step of an attempt."""
    left = get_seconds_left(state, item, now)
    if attempt.plan is None and attempt.offered:
        return Repeat()
    if attempt.vendor and attempt.proposed is None and not attempt.edited:
        return TakeVendors()
    if attempt.plan is None:
        return _ask_or_give_up(attempt, Ask("architect", "plan", left))
    if attempt.proposed is None and attempt.edited:
        return Propose()
    if attempt.proposed is None:
        return _ask_or_give_up(attempt, Ask("worker", "act", left))
    if attempt.refused:
        return FailAttempt("refused", f"{attempt.refused.clause}: {attempt.refused.reason}")
    if not attempt.allowed:
        return Judge()
    mode = state.request.mode if state.request else "auto"
    if mode == "dry-run" or (attempt.replayed_fix_id and attempt.rehearsed is None):
        return Rehearse()
    if attempt.replayed_fix_id and attempt.rehearsed and attempt.rehearsed.word in ("fail", "error"):
        return FailAttempt("scanner", f"on a copy: {attempt.rehearsed.evidence}")
    asks = attempt.needs.people > 0 if attempt.needs else mode == "review" or rule.irreversible
    if asks and not attempt.is_approved:
        return _decide_approval(attempt, now) if attempt.rehearsed else Rehearse()
    if attempt.change_failed:
        return FailAttempt("change failed", attempt.change_failed.reason)
    if attempt.applied is None:
        return Apply()
    if attempt.verdict is None:
        return Verify()
    if attempt.explained is None:
        return _ask_or_give_up(attempt, Ask("auditor", "review", left))
    if attempt.verdict.word != "pass":
        return FailAttempt("scanner", f"the scanner says {attempt.verdict.word}: {attempt.verdict.evidence}")
    if attempt.explained.veto:
        return FailAttempt("vetoed", f"gamed, not fixed: {attempt.explained.reason}")
    if attempt.probed is None:
        return Watch()
    if attempt.alarm:
        return FailAttempt("alarm", attempt.alarm.reason)
    return _ask_or_give_up(attempt, Ask("sentry", "triage", left))


def _ask_or_give_up(attempt: Attempt, ask: Ask) -> Effect:
    if attempt.fruitless < FRUITLESS:
        return ask
    if ask.purpose in ("review", "triage", "reflect"):
        return DoWithout(ask.purpose)
    return FailAttempt("engine", f"the {ask.role} gave no usable answer in {FRUITLESS} turns")


def _decide_approval(attempt: Attempt, now: float) -> Effect:
    if attempt.disapproved:
        return FailAttempt("disapproved", f"{attempt.disapproved.by} refused: {attempt.disapproved.reason}")
    if attempt.approval is None:
        return RequestApproval()
    if now >= attempt.approval.expires:
        return ExpireApproval()
    return Wait(attempt.approval.expires)


def _handle_failure(state: RunState, item: Item, attempt: Attempt, rule: Rule, now: float) -> Effect:
    failed = attempt.failed
    assert failed
    if attempt.has_changed_host and attempt.rolled_back is None:
        if attempt.facts is None:
            return GatherFacts()
        return RollBack(attempt.journal or "", failed.cause)
    if failed.cause == "over budget":
        return CloseItem(rule.id, "escalated", failed.reason)
    if attempt.reflected is None:
        unmade = attempt.vendor or (attempt.replayed_fix_id and not attempt.has_changed_host)
        if unmade or attempt.fruitless >= FRUITLESS or explain_overspending(item, state, now):
            return DoWithout("reflect")
        return Ask("architect", "reflect", get_seconds_left(state, item, now))
    if attempt.vendor:
        reason = f"the vendor's script, the last resort, did not pass either: {failed.reason}"
        return CloseItem(rule.id, "escalated", reason)
    spent = _explain_giving_up(item, attempt, state.budget)
    if spent and not (rule.remedy and _can_ask_people(state)):
        return CloseItem(rule.id, "escalated", f"{spent}{_LEFT}" if rule.remedy else spent)
    if over := explain_overspending(item, state, now):
        return CloseItem(rule.id, "escalated", spent or over)
    return StartAttempt(rule.id, attempt.number + 1, vendor=spent is not None)


def _explain_giving_up(item: Item, attempt: Attempt, budget: Budget) -> str | None:
    assert attempt.reflected
    if attempt.reflected.decision == "ESCALATE" and attempt.number % WEIGH_EVERY == 0:
        return f"the Architect escalates: {attempt.reflected.reason}"
    healthy = [failure for failure in item.failures if failure.cause == "scanner"]
    if item.pivoted and len(healthy) >= GAP_AFTER and len(set(item.tried)) >= GAP_AFTER:
        return f"{len(healthy)} different approaches left the host healthy and still fail: check the rule by hand"
    if attempt.number - item.replayed >= budget.attempts:
        return f"{attempt.number} attempts did not pass; the last: {item.failures[-1].reason}"
    return None


def _find_unrestored_harm(state: RunState) -> str | None:
    attempt = state.item.attempt if state.item else None
    back = attempt.rolled_back if attempt else None
    if back is None or state.started is None:
        return None
    if back.differences:
        return f"the rollback left a difference: {back.differences[0]}"
    harm = describe_harm(state.started.probes, back.probes)
    return f"the host is not healthy after the rollback: {harm}" if harm else None
