"""The state of a run at a seq, as the fold of its events. It alone decides what happens next."""

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from app.events import kinds
from app.events.event_field_types import Budget, Candidate, Lesson, Phase, Probe, fingerprint_actions
from app.events.record import Recorded
from app.events.waiver_in_force import Waiver
from app.loop.attempt_state import Attempt, advance_attempt
from app.loop.harm_seen_by_probes import HISTORY
from app.loop.reboot_state import RebootProgress, advance_reboot, drop_no_longer_pending_settings
from app.store.run_list_filters_and_columns import RunStatus

ItemStatus = Literal["waiting", "working", "passed", "escalated", "skipped", "deferred", "waived"]


class ScannerMove(Struct, frozen=True):
    """The files that an attempt changed, and the file that the scanner named afterwards."""

    changed: frozenset[str]
    to: str


class Item(Struct, frozen=True):
    rule: str
    status: ItemStatus = "waiting"
    started: float = 0.0
    ended: float = 0.0
    reason: str = ""
    question: str = ""
    """What an escalated item leaves to a person, in a few words."""
    tokens: int = 0
    attempt: Attempt | None = None
    failures: tuple[kinds.AttemptFailed, ...] = ()
    tried: tuple[str, ...] = ()
    """Fingerprints of failed approaches, which may not be proposed again."""
    moved: tuple[ScannerMove, ...] = ()
    pivoted: bool = False
    replayed: bool = False
    """A replayed fix failed, which allows one more attempt than the budget."""
    lessons: tuple[Lesson, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """What the content and recipes propose for the rule on this host."""
    rechecked: kinds.VerdictGiven | None = None
    """The verdict before the first attempt, if the run had changed the host by then."""

    @property
    def has_ended_needing_human_action(self) -> bool:
        """Whether it ended as a finding that somebody has to do something about."""
        settled = self.rechecked is not None and self.rechecked.word == "notapplicable"
        return self.status in ("escalated", "deferred", "skipped") and not settled

    def has_candidate_failed(self, candidate: Candidate) -> bool:
        return fingerprint_actions(candidate.actions) in self.tried

    @property
    def usable_candidates_by_number(self) -> dict[int, Candidate]:
        """The proposals that the policy accepts and that have not failed, by number from 1."""
        numbered = enumerate(self.candidates, 1)
        return {number: one for number, one in numbered if one.is_usable and not self.has_candidate_failed(one)}

    @property
    def has_only_content_script_trial_left(self) -> bool:
        """Return True if nothing else that is proposed is left, and no script was tried on a copy."""
        return not self.usable_candidates_by_number and not any(one.is_script_trial for one in self.candidates)


SILENT_SECONDS = 600.0
"""Beyond a turn's time limit: a working run is never silent for longer."""


class RunState(Struct, frozen=True):
    run: str = ""
    seq: int = 0
    at: float = 0.0
    request: kinds.RunQueued | None = None
    status: RunStatus = "queued"
    started: kinds.RunStarted | None = None
    started_at: float = 0.0
    worker: str = ""
    """The process that works on it, or did last."""
    stopping: kinds.RunStopRequested | None = None
    scanned: frozenset[Phase] = frozenset()
    scanning: kinds.ScanProgressed | None = None
    """How far a scan is that takes longer."""
    opening: dict[str, kinds.VerdictGiven] = field(default_factory=dict)
    closing: dict[str, kinds.VerdictGiven] = field(default_factory=dict)
    scope: kinds.RunScoped | None = None
    items: dict[str, Item] = field(default_factory=dict)
    working: str | None = None
    turn: kinds.TurnStarted | None = None
    waiting: kinds.RunWaiting | None = None
    """The fault of the machinery that the run waits out."""
    idle_since: float | None = None
    """Time since which the run is paused, or waits for a person or the machinery; budgets stop meanwhile."""
    ended: kinds.RunFinished | kinds.RunFailed | kinds.RunStopped | None = None
    reboot: RebootProgress = field(default_factory=RebootProgress)
    """The reboot at its end."""
    history: tuple[Probe, ...] = ()
    """The probes of what has happened, as the last rollback or the reboot found them."""

    @property
    def baseline_probes(self) -> tuple[Probe, ...]:
        """The probes to compare with: those from before the run, but of what has happened the later ones."""
        later = {probe.name: probe for probe in self.history}
        return tuple(later.get(one.name, one) for one in self.started.probes) if self.started else ()

    @property
    def budget(self) -> Budget:
        return self.request.budget if self.request else Budget()

    @property
    def has_no_model(self) -> bool:
        """Whether the run asks no role: it tries what the content proposes, and scanner and probes judge it."""
        return self.request is not None and self.request.engine == "none"

    @property
    def takes_proposals_in_order(self) -> bool:
        """Whether the attempt's change is the next proposal in the stated order, which no role chooses."""
        return self.has_no_model or bool(self.attempt and self.attempt.why_roles_stopped)

    @property
    def item(self) -> Item | None:
        return self.items[self.working] if self.working else None

    @property
    def attempt(self) -> Attempt | None:
        return self.item.attempt if self.item else None

    @property
    def must_wait_for_resume(self) -> bool:
        """Return whether the run is paused and has no open change: one that is applied is kept or rolled back first."""
        return self.status == "paused" and (self.attempt is None or self.attempt.journal is None)

    @property
    def subject_awaiting_approval(self) -> Attempt | RebootProgress | None:
        """What waits for a person's approval: a change, or the reboot at the end."""
        if self.attempt and self.attempt.awaits_person:
            return self.attempt
        return self.reboot if self.reboot.awaits_person else None

    @property
    def awaits_person(self) -> bool:
        return self.subject_awaiting_approval is not None


def fold_events(events: Iterable[Recorded], state: RunState | None = None) -> RunState:
    state = state or RunState()
    for recorded in events:
        state = apply_event(state, recorded)
    return state


def get_unobserved_gap_seconds(state: RunState, now: float) -> float:
    """Return the seconds since the newest event if too many for a run at work (clock change, suspend), else 0."""
    gap = now - state.at
    longest = state.budget.turn_seconds + SILENT_SECONDS
    if not state.started or state.idle_since is not None or 0 <= gap <= longest:
        return 0.0
    return gap


def apply_event(state: RunState, recorded: Recorded) -> RunState:
    if skipped := get_unobserved_gap_seconds(state, recorded.at):
        state = _exclude_idle_time(state, skipped)
    elif isinstance(recorded.event, kinds.TurnStarted) and recorded.event.waited_ms:
        state = _exclude_idle_time(state, recorded.event.waited_ms / 1000)
    state = replace(_update_idle_time(state, recorded), run=recorded.run, seq=recorded.seq, at=recorded.at)
    match recorded.event:
        case kinds.TurnDelta():
            return state
        case kinds.TurnStarted() as event:
            return replace(state, turn=event)
        case kinds.TurnInterrupted():
            return replace(state, turn=None)
        case kinds.TurnFinished() as event:
            if event.lost:
                return replace(_exclude_idle_time(state, event.seconds), turn=None, at=recorded.at)
            spent = replace(state, turn=None)
            return _apply_to_item(spent, recorded, tokens=event.prompt_tokens + event.completion_tokens)
        case kinds.VerdictGiven(phase="opening") as event:
            return replace(state, opening={**state.opening, event.rule: event})
        case kinds.VerdictGiven(phase="recheck") as event:
            item = replace(state.items[event.rule], rechecked=event)
            return replace(state, items={**state.items, event.rule: item})
        case kinds.VerdictGiven(phase="closing") as event:
            return replace(state, closing={**state.closing, event.rule: event})
        case kinds.ScanProgressed() as event:
            return replace(state, scanning=event)
        case kinds.ScanFinished() as event:
            return replace(state, scanned=state.scanned | {event.phase}, scanning=None)
        case _:
            return _apply_to_item(_apply_to_run(state, recorded), recorded)


_ANSWERS = kinds.ApprovalGiven | kinds.ApprovalRefused | kinds.ApprovalEdited | kinds.ApprovalExpired
_ENDS_WAIT = kinds.RunResumed | kinds.RunWaitEnded | _ANSWERS


def _update_idle_time(state: RunState, recorded: Recorded) -> RunState:
    match recorded.event:
        case kinds.RunPaused() | kinds.ApprovalRequested() | kinds.RunWaiting():
            return replace(state, idle_since=state.idle_since or recorded.at)
        case kinds.RunResumed(after_crash=True):
            since = state.idle_since or state.at
        case kinds.ApprovalGiven(given=given, of=of) if given < of:
            return state
        case _ if isinstance(recorded.event, _ENDS_WAIT) and state.idle_since:
            since = state.idle_since
        case _:
            return state
    still_idle = state.idle_since and _has_other_idle_reason(state, recorded.event)
    return replace(_exclude_idle_time(state, recorded.at - since), idle_since=recorded.at if still_idle else None)


def _has_other_idle_reason(state: RunState, event: kinds.Event) -> bool:
    """Return whether the run has another reason to be idle than the one that `event` ends."""
    if state.waiting and not isinstance(event, kinds.RunWaitEnded):
        return True
    if state.status == "paused" and not (isinstance(event, kinds.RunResumed) and not event.after_crash):
        return True
    return not isinstance(event, _ANSWERS) and state.subject_awaiting_approval is not None


def _exclude_idle_time(state: RunState, seconds: float) -> RunState:
    """Move the start of run and item, so that idle time uses no budget."""
    items = state.items
    if state.item:
        items = {**items, state.item.rule: replace(state.item, started=state.item.started + seconds)}
    return replace(state, started_at=state.started_at + seconds, at=state.at + seconds, items=items)


def _apply_to_run(state: RunState, recorded: Recorded) -> RunState:
    match recorded.event:
        case kinds.RunQueued() as event:
            return replace(state, request=event)
        case kinds.RunPreparing() as event:
            return replace(state, status="running", worker=event.worker)
        case kinds.RunStarted() as event:
            return replace(state, status="running", started=event, started_at=recorded.at, worker=event.worker)
        case kinds.RunScoped() as event:
            return replace(state, scope=event, items={rule: Item(rule) for rule in event.order})
        case kinds.RunPaused():
            return replace(state, status="paused")
        case kinds.RunResumed(after_crash=False):
            return replace(state, status="running")
        case kinds.RunResumed() as event:
            return replace(state, worker=event.by)
        case kinds.RunWaiting() as event:
            return replace(state, waiting=event)
        case kinds.RunWaitEnded():
            return replace(state, waiting=None)
        case kinds.RunStopRequested() as event:
            return replace(state, stopping=event)
        case kinds.RunFinished() | kinds.RunFailed() | kinds.RunStopped() as event:
            return replace(state, status=event.status, ended=event, waiting=None)
        case kinds.RebootReturned() as event:
            return _renew_history(replace(state, reboot=advance_reboot(state.reboot, recorded)), event)
        case _ if state.working is None:
            return replace(state, reboot=advance_reboot(state.reboot, recorded))
        case _:
            return state


def _apply_to_item(state: RunState, recorded: Recorded, tokens: int = 0) -> RunState:
    event = recorded.event
    if isinstance(event, kinds.ItemStarted):
        item = replace(state.items[event.rule], status="working", started=recorded.at)
        return replace(state, working=event.rule, items={**state.items, event.rule: item})
    if isinstance(event, kinds.ItemEnd):
        status: ItemStatus = "waived" if isinstance(event, kinds.ItemSkipped) and event.waiver else event.outcome
        reason = getattr(event, "reason", "")
        before = state.items[event.rule]
        ended = before.ended if isinstance(event, kinds.ItemEscalated) and event.reopened else recorded.at
        item = replace(before, status=status, ended=ended, reason=reason, question=getattr(event, "question", ""))
        return replace(state, working=None, items={**state.items, event.rule: item})
    if isinstance(event, kinds.InForceChecked) and state.reboot.returned:
        fresh = (
            replace(one, attempt=drop_no_longer_pending_settings(one.attempt, event)) for one in state.items.values()
        )
        return replace(state, items={one.rule: one for one in fresh})
    if state.item is None:
        return state
    item = _apply_to_attempt(replace(state.item, tokens=state.item.tokens + tokens), recorded)
    if isinstance(event, kinds.ActionRolledBack):
        state = _renew_history(state, event)
    return replace(state, items={**state.items, item.rule: item})


def _renew_history(state: RunState, event: kinds.ActionRolledBack | kinds.RebootReturned) -> RunState:
    return replace(state, history=tuple(one for one in event.probes if one.name in HISTORY))


def _apply_to_attempt(item: Item, recorded: Recorded) -> Item:
    event = recorded.event
    if isinstance(event, kinds.AttemptStarted):
        attempt = Attempt(
            number=event.attempt,
            started=recorded.at,
            lessons=event.lessons,
            seen=event.seen,
            offered=event.offered,
            vendor=event.vendor,
            why_roles_stopped=event.why_roles_stopped,
        )
        return replace(item, attempt=attempt)
    if isinstance(event, kinds.CandidatesGathered):
        return replace(item, candidates=event.candidates)
    if isinstance(event, kinds.LessonLearnt):
        return replace(item, lessons=(*item.lessons, event.lesson))
    if item.attempt is None:
        return item
    item = replace(item, attempt=advance_attempt(item.attempt, event))
    if isinstance(event, kinds.AttemptFailed):
        item = replace(item, failures=(*item.failures, event), replayed=item.replayed or bool(event.replayed))
        moved = _pair_changed_files_with_file_scanner_named_next(item.attempt) if event.cause == "scanner" else ()
        return replace(item, moved=(*item.moved, *moved))
    if isinstance(event, kinds.AttemptReflected):
        return replace(item, tried=(*item.tried, *event.banned), pivoted=item.pivoted or event.decision == "PIVOT")
    return item


def _pair_changed_files_with_file_scanner_named_next(attempt: Attempt | None) -> Iterator[ScannerMove]:
    if attempt and attempt.proposed and attempt.verdict and attempt.verdict.path:
        changed = frozenset(path for one in attempt.proposed.actions if (path := getattr(one, "path", "")))
        yield ScannerMove(changed, attempt.verdict.path)


def find_active_waiver(state: RunState, rule: str, at: float) -> Waiver | None:
    """Return the active waiver with the latest end, or None."""
    known = state.started.waivers if state.started else ()
    active = (one for one in known if one.rule == rule and one.is_unexpired(at))
    return max(active, key=lambda one: one.until, default=None)


def explain_time_or_token_overspending(item: Item, state: RunState, now: float) -> str | None:
    budget = state.budget
    now -= get_unobserved_gap_seconds(state, now)
    if item.tokens >= budget.item_tokens:
        return f"the item's {budget.item_tokens} tokens are spent"
    if now - item.started >= budget.item_seconds:
        return f"the item's {budget.item_seconds:.0f} s are spent"
    if now - state.started_at >= budget.run_seconds:
        return f"the run's {budget.run_seconds:.0f} s are spent"
    return None


def get_seconds_for_next_turn(state: RunState, item: Item, now: float) -> float:
    now -= get_unobserved_gap_seconds(state, now)
    budget = state.budget
    item_left = item.started + budget.item_seconds - now
    run_left = state.started_at + budget.run_seconds - now
    return max(0.0, min(budget.turn_seconds, item_left, run_left))
