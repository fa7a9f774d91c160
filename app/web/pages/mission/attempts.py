"""The attempts on the current item, as the page shows them."""

from types import NoneType
from typing import get_args

from msgspec import Struct
from msgspec.structs import fields, replace

from app.events import kinds
from app.events.event_field_types import Lesson, ProvenFix
from app.events.kinds import Event
from app.web.pages.diff import ROWS


class StepResults(Struct, frozen=True, kw_only=True):
    """What the steps of an attempt have produced so far."""

    plan: kinds.PlanMade | None = None
    proposed: kinds.ActionProposed | None = None
    refused: kinds.ActionRefused | None = None
    undone: kinds.ActionRolledBack | None = None
    verdict: kinds.VerdictGiven | None = None
    explained: kinds.VerdictExplained | None = None
    clear: kinds.SentryClear | None = None
    alarm: kinds.SentryAlarm | None = None
    lesson: kinds.LessonLearnt | None = None
    decision: kinds.AttemptReflected | None = None


def _map_event_types_to_fields(struct: type[Struct]) -> dict[type, str]:
    """Return the field of each kind of event that a struct holds the newest one of."""
    types = {field.name: get_args(field.type) for field in fields(struct)}
    return {held[0]: name for name, held in types.items() if held[1:] == (NoneType,)}


RESULT_FIELDS = _map_event_types_to_fields(StepResults)


class AttemptView(StepResults, frozen=True):
    number: int
    told: tuple[Lesson, ...] = ()
    offered: ProvenFix | None = None
    inquiries: tuple[kinds.QuestionsAnswered, ...] = ()
    approval: kinds.ApprovalRequested | None = None
    answers: tuple[kinds.ApprovalGiven | kinds.ApprovalRefused, ...] = ()
    allowed: kinds.ActionsAllowed | None = None
    rehearsed: kinds.Rehearsed | None = None
    applied: kinds.ActionApplied | None = None
    probed: kinds.SentryProbed | None = None
    failed: kinds.AttemptFailed | None = None
    passed: bool = False

    @property
    def diff(self) -> str:
        """The change as it was made, or else as it was proposed, with the files around it as far as they are known."""
        if not self.proposed:
            return ""
        made = self.applied.diff if self.applied and self.applied.diff else self.proposed.diff
        around = self.proposed.around if made == self.proposed.diff else ""
        return around if around and around.count("\n") < ROWS else made


_FIELDS = _map_event_types_to_fields(AttemptView)


def advance_attempt_view(attempt: AttemptView, event: Event) -> AttemptView:
    if getattr(event, "about", "change") != "change":
        return attempt  # the approval of the reboot at the end is no attempt's
    if isinstance(event, kinds.ItemPassed):
        return replace(attempt, passed=True)
    if isinstance(event, kinds.VerdictGiven):
        return replace(attempt, verdict=event) if event.phase == "attempt" else attempt
    if isinstance(event, kinds.QuestionsAnswered):
        return replace(attempt, inquiries=(*attempt.inquiries, event))
    if isinstance(event, kinds.ApprovalGiven | kinds.ApprovalRefused):
        return replace(attempt, answers=(*attempt.answers, event))
    field = _FIELDS.get(type(event))
    return replace(attempt, **{field: event}) if field else attempt
