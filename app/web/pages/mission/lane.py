"""One role's lane: the thought as it comes, then what it came to. It stays until the role has more to say."""

from dataclasses import dataclass, replace
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
from app.events.words import Purpose, Role

ROLES: tuple[Role, ...] = get_args(Role)

DOES: dict[Purpose, str] = {
    "plan": "is planning",
    "act": "is writing the change",
    "review": "is reading the verdict",
    "triage": "is looking for damage",
    "reflect": "is learning from the failure",
}


@dataclass(frozen=True)
class Lane:
    role: Role
    rule: str = ""
    attempt: int = 0
    """What it is about; an earlier item or attempt stays in sight until the role comes to the present one."""
    turn: str = ""
    live: bool = False
    does: str = ""
    waited: float = 0.0
    """Seconds for the engine, behind other hosts' turns."""
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

    @property
    def blank(self) -> bool:
        return not self.rule

    def past(self, rule: str | None, attempt: int) -> bool:
        """It tells of what was before the item and attempt in work."""
        return not self.blank and (self.rule, self.attempt) != (rule, attempt)


_PLACE: dict[tuple[Role, type], str] = {
    ("architect", PlanMade): "plan",
    ("architect", LessonLearnt): "lesson",
    ("architect", AttemptReflected): "decision",
    ("worker", ActionProposed): "proposed",
    ("worker", ActionRefused): "refused",
    ("worker", ActionRolledBack): "undone",
    ("auditor", VerdictExplained): "explained",
    ("sentry", SentryClear): "clear",
    ("sentry", SentryAlarm): "alarm",
    ("sentry", ActionRolledBack): "undone",
}


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
        case VerdictGiven(phase="attempt") if lane.role == "auditor":
            return Lane(lane.role, event.rule, event.attempt, verdict=event)
        case SentryProbed() if lane.role == "sentry":
            return Lane(lane.role, event.rule, event.attempt, probed=event)
        case _:
            return _said(lane, event)


def _begin(lane: Lane, event: TurnStarted) -> Lane:
    fresh = Lane(lane.role, event.rule, event.attempt, event.turn, live=True, does=DOES[event.purpose])
    fresh = replace(fresh, waited=event.waited_ms / 1000)
    # What the code found before the role spoke stays in its lane: the verdict, the probes.
    return fresh if lane.past(event.rule, event.attempt) else replace(fresh, verdict=lane.verdict, probed=lane.probed)


def _said(lane: Lane, event: Event) -> Lane:
    place = _PLACE.get((lane.role, type(event)))
    if place is None:
        return lane
    rule, attempt = event.rule, event.attempt  # type: ignore[attr-defined]
    here = Lane(lane.role, rule, attempt) if lane.blank or lane.past(rule, attempt) else lane
    if place == "undone" and not (here.proposed or here.alarm):
        return lane  # it was not this lane's doing
    return replace(here, **{place: event})  # type: ignore[arg-type]
