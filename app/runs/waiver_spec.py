"""What a person states for a waiver: its fields, and the rules that they have to meet."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from app.errors import Rejected
from app.runs.shared_field_checks import ScopedSpec, check_lengths, check_rule, load_known_skill
from app.text.clean import clean_line

LONGEST = {"rule": 128, "host": 64, "group": 63, "skill": 200, "owner": 100, "reason": 1000, "ticket": 100}
MOST_DAYS = 366
"""Longest duration, so that an accepted risk is reviewed once a year."""
_REQUIRED = {"owner": "give an owner, who accepts the risk.", "reason": "give a reason: the evidence contains it."}


@dataclass(frozen=True, kw_only=True)
class WaiverSpec(ScopedSpec):
    rule: str
    owner: str
    reason: str
    ticket: str = ""
    until: str
    """Day of expiry, like 2027-01-31."""
    skill: str = "stig"
    """Skill that contains the rule."""
    by: str


def check_waiver_fields_and_rule(spec: WaiverSpec) -> None:
    check_lengths(spec, LONGEST)
    for field, request in _REQUIRED.items():
        if not clean_waiver_field(spec, field):
            raise Rejected(field, request)
    check_rule("rule", spec.rule, load_known_skill(spec.skill))


def clean_waiver_field(spec: WaiverSpec, field: str) -> str:
    return clean_line(getattr(spec, field), LONGEST[field]).strip()


def normalize_waiver_end_date(date_text: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    try:
        day = date.fromisoformat(date_text.strip())
    except ValueError:
        raise Rejected("until", f"{date_text[:40]!a} is not a date: write it as {today + timedelta(90)}.") from None
    if not today < day <= today + timedelta(MOST_DAYS):
        limit = f"after today and by {today + timedelta(MOST_DAYS)} at the latest"
        raise Rejected("until", f"a waiver must end {limit}, since waivers are reviewed once a year.")
    return day.isoformat()
