"""One role's lane: the thought as it comes, then what it came to."""

from dataclasses import dataclass, field, replace
from typing import get_args

from app.events.kinds import (
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    AttemptReflected,
    Event,
    LessonLearnt,
    PlanMade,
    SentryAlarm,
    SentryClear,
    SentryProbed,
    TurnDelta,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    VerdictExplained,
    VerdictGiven,
)
from app.events.words import Role

ROLES: tuple[Role, ...] = get_args(Role)

DOES = {
    "plan": "is planning",
    "act": "is writing the change",
    "review": "is reading the verdict",
    "triage": "is looking for damage",
    "reflect": "is learning from the failure",
}


@dataclass(frozen=True)
class Lane:
    role: Role
    turn: str = ""
    live: bool = False
    does: str = ""
    thought: str = ""
    answer: str = ""
    finished: TurnFinished | None = None
    plan: PlanMade | None = None
    lesson: LessonLearnt | None = None
    decision: AttemptReflected | None = None
    proposed: ActionProposed | None = None
    refused: ActionRefused | None = None
    undone: ActionRolledBack | None = None
    verdict: VerdictGiven | None = None
    explained: VerdictExplained | None = None
    probed: SentryProbed | None = None
    clear: SentryClear | None = None
    alarm: SentryAlarm | None = None
    interrupted: str = ""
    blank: bool = field(default=True)


def advance(lane: Lane, event: Event) -> Lane:
    match event:
        case TurnStarted(role=lane.role):
            return _begin(lane, event)
        case TurnDelta(turn=lane.turn, channel="thought"):
            return replace(lane, thought=lane.thought + event.text)
        case TurnDelta(turn=lane.turn):
            return replace(lane, answer=lane.answer + event.text)
        case TurnFinished(turn=lane.turn):
            return replace(lane, live=False, thought=event.thought, answer=event.answer, finished=event)
        case TurnInterrupted(turn=lane.turn):
            return replace(lane, live=False, interrupted=event.reason)
        case _:
            return _said(lane, event)


def _begin(lane: Lane, event: TurnStarted) -> Lane:
    fresh = Lane(lane.role, event.turn, live=True, does=DOES[event.purpose], blank=False)
    # What the code found before the role spoke stays in its lane: the verdict, the probes.
    return replace(fresh, verdict=lane.verdict, probed=lane.probed)


def _said(lane: Lane, event: Event) -> Lane:
    match lane.role, event:
        case "architect", PlanMade():
            return replace(lane, plan=event)
        case "architect", LessonLearnt():
            return replace(lane, lesson=event)
        case "architect", AttemptReflected():
            return replace(lane, decision=event)
        case "worker", ActionProposed():
            return replace(lane, proposed=event)
        case "worker", ActionRefused():
            return replace(lane, refused=event)
        case "worker", ActionRolledBack() if lane.proposed:
            return replace(lane, undone=event)
        case "auditor", VerdictGiven(phase="attempt"):
            return Lane(lane.role, verdict=event, blank=False)
        case "auditor", VerdictExplained():
            return replace(lane, explained=event)
        case "sentry", SentryProbed():
            return Lane(lane.role, probed=event, blank=False)
        case "sentry", SentryClear():
            return replace(lane, clear=event)
        case "sentry", SentryAlarm():
            return replace(lane, alarm=event)
        case "sentry", ActionRolledBack():
            return replace(lane, undone=event, blank=False)
        case _:
            return lane
