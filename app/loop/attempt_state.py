"""One attempt on an item, as the fold of its events."""

from types import UnionType
from typing import Final, get_args

from msgspec import Struct
from msgspec.structs import fields, replace

from app.events import kinds
from app.events.approval_policy import PeopleNeeded
from app.events.architect_questions_about_host import AnsweredQuestion
from app.events.event_field_types import Lesson, ProvenFix, Purpose
from app.loop.required_approvals import count_people, list_approver_of_each_approval


class Attempt(Struct, frozen=True):
    number: int
    started: float
    lessons: tuple[Lesson, ...] = ()
    seen: str = ""
    offered: ProvenFix | None = None
    vendor: bool = False
    why_roles_stopped: str = ""
    answered: frozenset[Purpose] = frozenset()
    """Purposes that got a usable answer."""
    fruitless: int = 0
    """Turns on the current question without a usable answer."""
    complaint: str = ""
    """Why the last answer to the current question was not usable."""
    inquired: tuple[AnsweredQuestion, ...] = ()
    """What the Architect has asked about the host, with the answers."""
    plan: kinds.PlanMade | None = None
    proposed: kinds.ActionProposed | None = None
    refused: kinds.ActionRefused | None = None
    allowed: bool = False
    needs: PeopleNeeded | None = None
    rehearsed: kinds.Rehearsed | None = None
    approval: kinds.ApprovalRequested | None = None
    given: tuple[kinds.ApprovalGiven, ...] = ()
    disapproved: kinds.ApprovalRefused | None = None
    expired: kinds.ApprovalExpired | None = None
    edited: kinds.ApprovalEdited | None = None
    journals: int = 0
    journal: str | None = None
    """The journal that is neither committed nor rolled back."""
    applied: kinds.ActionApplied | None = None
    change_failed: kinds.ActionFailedToApply | None = None
    verdict: kinds.VerdictGiven | None = None
    explained: kinds.VerdictExplained | None = None
    probed: kinds.SentryProbed | None = None
    force: kinds.InForceChecked | None = None
    clear: kinds.SentryClear | None = None
    alarm: kinds.SentryAlarm | None = None
    failed: kinds.AttemptFailed | None = None
    facts: kinds.FactsGathered | None = None
    rolling_back: bool = False
    rolled_back: kinds.ActionRolledBack | None = None
    reflected: kinds.AttemptReflected | None = None

    @property
    def has_apply_outcome(self) -> bool:
        return self.applied is not None or self.change_failed is not None

    @property
    def replayed_fix_id(self) -> str:
        """Id of the proven fix that it repeats; empty once a person or role changed the actions."""
        return self.proposed.replayed if self.proposed else ""

    @property
    def people_required(self) -> int:
        """Number of people who must approve it, if any is asked."""
        return max(self.needs.people, 1) if self.needs else 1

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person has to know of the change, whatever its plan says."""
        return self.needs.risk.warnings if self.needs and self.needs.risk else ()

    @property
    def is_irreversible(self) -> bool:
        """Return True if a rollback does not take back what the actions do, whatever their rule."""
        return bool(self.needs and self.needs.risk and self.needs.risk.irreversible)

    @property
    def is_approved(self) -> bool:
        return count_people(list_approver_of_each_approval(self.given)) >= self.people_required

    @property
    def awaits_person(self) -> bool:
        answered = self.is_approved or self.disapproved or self.expired or self.failed
        return self.approval is not None and not answered


def map_event_types_to_fields(state_type: type[Struct]) -> dict[type, str]:
    """Return, for each type of event, the optional field that has this type: it holds the newest such event."""
    optional = [one for one in fields(state_type) if isinstance(one.type, UnionType)]
    return {kind: one.name for one in optional for kind in get_args(one.type)}


_FIELDS: Final = map_event_types_to_fields(Attempt)
_ANSWERS = kinds.PlanMade | kinds.VerdictExplained | kinds.SentryClear | kinds.SentryAlarm | kinds.AttemptReflected
_NOT_APPLIED: Final = dict.fromkeys(("applied", "change_failed", "verdict", "explained", "probed", "force"))
"""What an attempt knows of a change only while it is applied."""


def advance_attempt(attempt: Attempt, event: kinds.Event) -> Attempt:
    match event:
        case kinds.TurnFinished() if event.outcome != "answered":
            complaint = event.detail if event.outcome == "broken" else ""
            return replace(attempt, fruitless=attempt.fruitless + 1, complaint=complaint)
        case kinds.TurnFinished():
            return replace(attempt, answered=attempt.answered | {event.purpose}, complaint="")
        case kinds.QuestionsAnswered():
            return replace(attempt, inquired=(*attempt.inquired, *event.answers), fruitless=0)
        case kinds.ActionProposed():
            return replace(attempt, proposed=event, edited=None, fruitless=0)
        case kinds.ActionsAllowed():
            return replace(attempt, allowed=True, needs=event.needs)
        case kinds.ApprovalGiven():
            return replace(attempt, given=(*attempt.given, event))
        case kinds.ApprovalExpired(drifted=True):
            return _reset_proposal(attempt)
        case kinds.ApprovalEdited():
            return replace(_reset_proposal(attempt), edited=event)
        case kinds.ActionApplying():
            return replace(attempt, journal=event.journal, journals=attempt.journals + 1, rolled_back=None)
        case kinds.ActionRollingBack():
            return replace(attempt, rolling_back=True)
        case kinds.ActionRolledBack():
            undone = replace(attempt, journal=None, rolling_back=False, rolled_back=event)
            # Without a failure, a crash or a fault interrupted the change: it is applied and judged again.
            return undone if attempt.failed else replace(undone, **_NOT_APPLIED)
    if field := _FIELDS.get(type(event)):
        fruitless = 0 if isinstance(event, _ANSWERS | kinds.AttemptFailed) else attempt.fruitless
        return replace(attempt, **{field: event}, fruitless=fruitless)
    return attempt


def _reset_proposal(attempt: Attempt) -> Attempt:
    return replace(attempt, proposed=None, allowed=False, needs=None, rehearsed=None, approval=None, given=())
