"""The attempts on the item in focus, as a person reads them."""

from dataclasses import dataclass, replace

from app.events.kinds import (
    ActionApplied,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    AttemptReflected,
    Event,
    ItemPassed,
    LessonLearnt,
    PlanMade,
    SentryAlarm,
    SentryClear,
    VerdictExplained,
    VerdictGiven,
)
from app.events.words import Lesson, ProvenFix


@dataclass(frozen=True)
class AttemptView:
    number: int
    told: tuple[Lesson, ...] = ()
    offered: ProvenFix | None = None
    plan: PlanMade | None = None
    proposed: ActionProposed | None = None
    refused: ActionRefused | None = None
    approval: ApprovalRequested | None = None
    answers: tuple[ApprovalGiven | ApprovalRefused, ...] = ()
    applied: ActionApplied | None = None
    verdict: VerdictGiven | None = None
    explained: VerdictExplained | None = None
    clear: SentryClear | None = None
    alarm: SentryAlarm | None = None
    failed: AttemptFailed | None = None
    undone: ActionRolledBack | None = None
    lesson: LessonLearnt | None = None
    decision: AttemptReflected | None = None
    passed: bool = False

    @property
    def rule(self) -> str:
        return self.proposed.rule if self.proposed else ""


_PLACE: dict[type, str] = {
    PlanMade: "plan",
    ActionProposed: "proposed",
    ActionRefused: "refused",
    ApprovalRequested: "approval",
    ActionApplied: "applied",
    VerdictExplained: "explained",
    SentryClear: "clear",
    SentryAlarm: "alarm",
    AttemptFailed: "failed",
    ActionRolledBack: "undone",
    LessonLearnt: "lesson",
    AttemptReflected: "decision",
}


def tried(attempt: AttemptView, event: Event) -> AttemptView:
    if isinstance(event, ItemPassed):
        return replace(attempt, passed=True)
    if isinstance(event, VerdictGiven):
        return replace(attempt, verdict=event) if event.phase == "attempt" else attempt
    if isinstance(event, ApprovalGiven | ApprovalRefused):
        return replace(attempt, answers=(*attempt.answers, event))
    place = _PLACE.get(type(event))
    return replace(attempt, **{place: event}) if place else attempt  # type: ignore[arg-type]
