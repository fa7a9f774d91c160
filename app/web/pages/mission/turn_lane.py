"""One turn of the transcript: its thought and answer as they stream, then its result."""

from typing import Literal, get_args

from msgspec.structs import replace

from app.events import kinds
from app.events.event_field_types import Purpose, Role
from app.events.kinds import Event
from app.web.pages.mission.attempts import RESULT_FIELDS, StepResults

ROLES: tuple[Role, ...] = get_args(Role)

Place = Literal["architect", "worker", "auditor", "sentry", "lesson"]
PLACES: tuple[Place, ...] = get_args(Place)
"""The turns of an attempt in order; in the last one the Architect learns from a failure."""

DOES: dict[Purpose, str] = {
    "plan": "is planning",
    "act": "is writing the change",
    "review": "is reading the verdict",
    "triage": "is looking for damage",
    "reflect": "is learning from the failure",
}


class Lane(StepResults, frozen=True):
    place: Place
    rule: str = ""
    attempt: int = 0
    """The item and attempt shown; an earlier one stays until the role starts on the current one."""
    turn: str = ""
    live: bool = False
    purpose: Purpose | None = None
    does: str = ""
    waited: float = 0.0
    """Seconds that the turn waited for the engine behind other hosts' turns."""
    thought: str = ""
    answer: str = ""
    finished: kinds.TurnFinished | None = None
    probed: kinds.SentryProbed | None = None
    interrupted: str = ""

    @property
    def role(self) -> Role:
        return "architect" if self.place == "lesson" else self.place

    @property
    def is_blank(self) -> bool:
        return not self.rule

    def is_of_other_attempt(self, rule: str | None, attempt: int) -> bool:
        """Return True if the lane shows an earlier item or attempt than this one."""
        return not self.is_blank and (self.rule, self.attempt) != (rule, attempt)


_SHOWN: dict[Place, tuple[type, ...]] = {
    "architect": (kinds.PlanMade,),
    "worker": (kinds.ActionProposed, kinds.ActionRefused, kinds.ActionRolledBack),
    "auditor": (kinds.VerdictExplained,),
    "sentry": (kinds.SentryClear, kinds.SentryAlarm, kinds.ActionRolledBack),
    "lesson": (kinds.LessonLearnt, kinds.AttemptReflected),
}
"""The results that each lane shows."""


def get_lane_name(turn_started: kinds.TurnStarted) -> Place:
    return "lesson" if turn_started.purpose == "reflect" else turn_started.role


def advance_lane(lane: Lane, event: Event) -> Lane:
    match event:
        case kinds.TurnStarted():
            return _begin_turn(lane, event) if get_lane_name(event) == lane.place else lane
        case kinds.TurnDelta(turn=lane.turn, channel="thought"):
            return replace(lane, thought=lane.thought + event.text)
        case kinds.TurnDelta(turn=lane.turn):
            return replace(lane, answer=lane.answer + event.text)
        case kinds.TurnFinished(turn=lane.turn):
            return replace(lane, live=False, thought=event.thought, answer=event.answer, finished=event)
        case kinds.TurnInterrupted(turn=lane.turn):
            return replace(lane, live=False, interrupted=event.reason)
        case kinds.VerdictGiven(phase="attempt") if lane.place == "auditor":
            return Lane(lane.place, event.rule, event.attempt, verdict=event)
        case kinds.SentryProbed() if lane.place == "sentry":
            return Lane(lane.place, event.rule, event.attempt, probed=event)
        case _:
            return _record_result(lane, event)


def _begin_turn(lane: Lane, event: kinds.TurnStarted) -> Lane:
    does, waited = DOES[event.purpose], event.waited_ms / 1000
    here = Lane(lane.place, event.rule, event.attempt, event.turn)
    fresh = replace(here, live=True, purpose=event.purpose, does=does, waited=waited)
    # The verdict and the probes precede the role's turn and stay in its lane.
    if lane.is_of_other_attempt(event.rule, event.attempt):
        return fresh
    return replace(fresh, verdict=lane.verdict, probed=lane.probed)


def _record_result(lane: Lane, event: Event) -> Lane:
    if not isinstance(event, _SHOWN[lane.place]):
        return lane
    rule, attempt = event.rule, event.attempt  # type: ignore[attr-defined]
    here = Lane(lane.place, rule, attempt) if lane.is_blank or lane.is_of_other_attempt(rule, attempt) else lane
    if isinstance(event, kinds.ActionRolledBack) and not (here.proposed or here.alarm):
        return lane  # another lane's change
    return replace(here, **{RESULT_FIELDS[type(event)]: event})
