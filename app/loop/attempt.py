"""One attempt on an item, folded from its events."""

from dataclasses import dataclass, replace

from app.events.approvals import PeopleNeeded
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ActionRollingBack,
    ActionsAllowed,
    ApprovalEdited,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    Event,
    FactsGathered,
    ForceAsked,
    PlanMade,
    Rehearsed,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    TurnFinished,
    VerdictExplained,
    VerdictGiven,
)
from app.events.words import Lesson, ProvenFix, Purpose


@dataclass(frozen=True)
class Attempt:
    number: int
    started: float
    lessons: tuple[Lesson, ...] = ()
    seen: str = ""
    offered: ProvenFix | None = None
    vendor: bool = False
    answered: frozenset[Purpose] = frozenset()
    """What roles were asked and gave a usable answer to."""
    fruitless: int = 0
    """Turns on the present question that gave no usable answer."""
    plan: PlanMade | None = None
    proposed: ActionProposed | None = None
    refused: ActionRefused | None = None
    allowed: bool = False
    needs: PeopleNeeded | None = None
    rehearsed: Rehearsed | None = None
    approval: ApprovalRequested | None = None
    given: tuple[ApprovalGiven, ...] = ()
    disapproved: ApprovalRefused | None = None
    expired: ApprovalExpired | None = None
    edited: ApprovalEdited | None = None
    journals: int = 0
    journal: str | None = None
    """Pre-images that are neither committed nor restored."""
    applied: ActionApplied | None = None
    change_failed: ActionFailedToApply | None = None
    verdict: VerdictGiven | None = None
    explained: VerdictExplained | None = None
    probed: SentryProbed | None = None
    force: ForceAsked | None = None
    clear: SentryClear | None = None
    alarm: SentryAlarm | None = None
    failed: AttemptFailed | None = None
    facts: FactsGathered | None = None
    rolling_back: bool = False
    rolled_back: ActionRolledBack | None = None
    reflected: AttemptReflected | None = None

    @property
    def changed(self) -> bool:
        return self.applied is not None or self.change_failed is not None

    @property
    def replays(self) -> str:
        """The fix that it repeats. What a person made of it, or a role after all, is their own."""
        return self.proposed.replayed if self.proposed else ""

    @property
    def of(self) -> int:
        """How many people it takes once somebody is asked."""
        return max(self.needs.people, 1) if self.needs else 1

    @property
    def approved(self) -> bool:
        return len({one.by.casefold() for one in self.given}) >= self.of

    @property
    def awaits_person(self) -> bool:
        answered = self.approved or self.disapproved or self.expired or self.failed
        return self.approval is not None and not answered


def advance(attempt: Attempt, event: Event) -> Attempt:
    match event:
        case TurnFinished() if event.outcome != "answered":
            return replace(attempt, fruitless=attempt.fruitless + 1)
        case TurnFinished():
            return replace(attempt, answered=attempt.answered | {event.purpose})
        case PlanMade():
            return replace(attempt, plan=event, fruitless=0)
        case ActionProposed():
            return replace(attempt, proposed=event, edited=None, fruitless=0)
        case ActionRefused():
            return replace(attempt, refused=event)
        case ActionsAllowed():
            return replace(attempt, allowed=True, needs=event.needs)
        case Rehearsed():
            return replace(attempt, rehearsed=event)
        case VerdictGiven():
            return replace(attempt, verdict=event)
        case VerdictExplained():
            return replace(attempt, explained=event, fruitless=0)
        case SentryProbed():
            return replace(attempt, probed=event)
        case ForceAsked():
            return replace(attempt, force=event)
        case SentryClear():
            return replace(attempt, clear=event, fruitless=0)
        case SentryAlarm():
            return replace(attempt, alarm=event, fruitless=0)
        case AttemptFailed():
            return replace(attempt, failed=event, fruitless=0)
        case FactsGathered():
            return replace(attempt, facts=event)
        case AttemptReflected():
            return replace(attempt, reflected=event, fruitless=0)
        case _:
            return _change(_approve(attempt, event), event)


def _approve(attempt: Attempt, event: Event) -> Attempt:
    match event:
        case ApprovalRequested():
            return replace(attempt, approval=event)
        case ApprovalGiven():
            return replace(attempt, given=(*attempt.given, event))
        case ApprovalRefused():
            return replace(attempt, disapproved=event)
        case ApprovalExpired(drifted=True):
            return _unasked(attempt)
        case ApprovalEdited():
            return replace(_unasked(attempt), edited=event)
        case ApprovalExpired():
            return replace(attempt, expired=event)
        case _:
            return attempt


def _unasked(attempt: Attempt) -> Attempt:
    """As before the Worker proposed anything."""
    return replace(attempt, proposed=None, allowed=False, needs=None, rehearsed=None, approval=None, given=())


def _change(attempt: Attempt, event: Event) -> Attempt:
    match event:
        case ActionApplying():
            return replace(attempt, journal=event.journal, journals=attempt.journals + 1, rolled_back=None)
        case ActionApplied():
            return replace(attempt, applied=event)
        case ActionFailedToApply():
            return replace(attempt, change_failed=event)
        case ActionRollingBack():
            return replace(attempt, rolling_back=True)
        case ActionRolledBack():
            undone = replace(attempt, journal=None, rolling_back=False, rolled_back=event)
            # Without a failure it was a crash that cut the change short: the same change is made again.
            return undone if attempt.failed else replace(undone, applied=None, change_failed=None)
        case _:
            return attempt
