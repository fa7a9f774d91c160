"""One role's lane: its thought as it streams, then its result. It stays until the role's next turn."""

from typing import get_args

from msgspec.structs import replace

from app.events import kinds
from app.events.kinds import Event
from app.events.vocabulary import Purpose, Role
from app.web.pages.mission.attempts import RESULT_FIELDS, StepResults

ROLES: tuple[Role, ...] = get_args(Role)

DOES: dict[Purpose, str] = {
    "plan": "is planning",
    "act": "is writing the change",
    "review": "is reading the verdict",
    "triage": "is looking for damage",
    "reflect": "is learning from the failure",
}


class Lane(StepResults, frozen=True):
    role: Role
    rule: str = ""
    attempt: int = 0
    """The item and attempt shown; an earlier one stays until the role starts on the current one."""
    turn: str = ""
    live: bool = False
    does: str = ""
    waited: float = 0.0
    """Seconds that the turn waited for the engine behind other hosts' turns."""
    thought: str = ""
    answer: str = ""
    finished: kinds.TurnFinished | None = None
    probed: kinds.SentryProbed | None = None
    interrupted: str = ""

    @property
    def is_blank(self) -> bool:
        return not self.rule

    def is_past(self, rule: str | None, attempt: int) -> bool:
        """Return True if the lane shows an earlier item or attempt than this one."""
        return not self.is_blank and (self.rule, self.attempt) != (rule, attempt)


_SHOWN: dict[Role, tuple[type, ...]] = {
    "architect": (kinds.PlanMade, kinds.LessonLearnt, kinds.AttemptReflected),
    "worker": (kinds.ActionProposed, kinds.ActionRefused, kinds.ActionRolledBack),
    "auditor": (kinds.VerdictExplained,),
    "sentry": (kinds.SentryClear, kinds.SentryAlarm, kinds.ActionRolledBack),
}
"""The results that each role's lane shows."""


def advance_lane(lane: Lane, event: Event) -> Lane:
    match event:
        case kinds.TurnStarted(role=lane.role):
            return _begin_turn(lane, event)
        case kinds.TurnDelta(turn=lane.turn, channel="thought"):
            return replace(lane, thought=lane.thought + event.text)
        case kinds.TurnDelta(turn=lane.turn):
            return replace(lane, answer=lane.answer + event.text)
        case kinds.TurnFinished(turn=lane.turn):
            return replace(lane, live=False, thought=event.thought, answer=event.answer, finished=event)
        case kinds.TurnInterrupted(turn=lane.turn):
            return replace(lane, live=False, interrupted=event.reason)
        case kinds.VerdictGiven(phase="attempt") if lane.role == "auditor":
            return Lane(lane.role, event.rule, event.attempt, verdict=event)
        case kinds.SentryProbed() if lane.role == "sentry":
            return Lane(lane.role, event.rule, event.attempt, probed=event)
        case _:
            return _record_result(lane, event)


def _begin_turn(lane: Lane, event: kinds.TurnStarted) -> Lane:
    does, waited = DOES[event.purpose], event.waited_ms / 1000
    fresh = Lane(lane.role, event.rule, event.attempt, event.turn, live=True, does=does, waited=waited)
    # The verdict and the probes precede the role's turn and stay in its lane.
    return (
        fresh if lane.is_past(event.rule, event.attempt) else replace(fresh, verdict=lane.verdict, probed=lane.probed)
    )


def _record_result(lane: Lane, event: Event) -> Lane:
    if not isinstance(event, _SHOWN[lane.role]):
        return lane
    rule, attempt = event.rule, event.attempt  # type: ignore[attr-defined]
    here = Lane(lane.role, rule, attempt) if lane.is_blank or lane.is_past(rule, attempt) else lane
    if isinstance(event, kinds.ActionRolledBack) and not (here.proposed or here.alarm):
        return lane  # another lane's change
    return replace(here, **{RESULT_FIELDS[type(event)]: event})
