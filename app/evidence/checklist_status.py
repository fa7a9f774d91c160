"""Maps verdicts to checklist statuses. An unclear verdict is not reviewed, never a pass."""

from typing import Literal

from app.events.kinds import VerdictGiven
from app.events.vocabulary import Category, Word

Status = Literal["not_reviewed", "not_applicable", "open", "not_a_finding"]
_STATUS: dict[Word, Status] = {"pass": "not_a_finding", "fail": "open", "notapplicable": "not_applicable"}
CKL_STATUS: dict[Status, str] = {
    "not_reviewed": "Not_Reviewed",
    "not_applicable": "Not_Applicable",
    "open": "Open",
    "not_a_finding": "NotAFinding",
}
SEVERITY: dict[Category, str] = {"I": "high", "II": "medium", "III": "low"}


def to_checklist_status(closing: VerdictGiven | None) -> Status:
    """`closing` is None if there was no closing scan or the run did not include the rule."""
    return _STATUS.get(closing.word, "not_reviewed") if closing else "not_reviewed"
