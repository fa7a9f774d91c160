"""Events as lines of a feed."""

from dataclasses import dataclass

from app.events import kinds
from app.events.event_field_types import Role
from app.events.kinds import TOLD_KINDS, Event, Sentence
from app.events.record import Recorded
from app.text.pluralized_counts import count_things

FEED_KINDS = (*TOLD_KINDS, "plan", "sentry.probed")
"""Kinds of events that have a line here: all with a sentence, and the steps of roles that change nothing."""
_ROLES: dict[type[Event], Role] = {
    kinds.PlanMade: "architect",
    kinds.AttemptReflected: "architect",
    kinds.LessonLearnt: "architect",
    kinds.ActionApplied: "worker",
    kinds.VerdictExplained: "auditor",
    kinds.SentryProbed: "sentry",
    kinds.SentryAlarm: "sentry",
}
"""Kinds of events whose line may begin with the name of a role."""


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: float
    glyph: str
    kind: str
    text: str
    role: Role | None = None
    """The role whose name begins the text."""

    @property
    def rest(self) -> str:
        """The text after the name of the role."""
        return self.text[len(self.role) :] if self.role else self.text


def to_feed_line(recorded: Recorded) -> FeedLine | None:
    event = recorded.event
    if (told := _describe_plan_lesson_or_probes(event) or event.describe()) is None:
        return None
    role = event.role if isinstance(event, kinds.TurnFinished) else _ROLES.get(type(event))
    named = role if role and told.text.startswith(role.capitalize()) else None
    return FeedLine(recorded.seq, recorded.at, told.glyph, told.kind, told.text, named)


def _describe_plan_lesson_or_probes(event: Event) -> Sentence | None:
    match event:
        case kinds.PlanMade():
            return Sentence(f"{'Plan without a role' if event.without_role else 'Architect plan'}: {event.approach}")
        case kinds.LessonLearnt():
            return Sentence(f"Architect lesson: {event.lesson.advice}")
        case kinds.SentryProbed():
            fine = sum(probe.ok for probe in event.probes)
            return Sentence(f"Sentry: {fine} of {count_things(len(event.probes), 'probe')} fine")
        case _:
            return None
