"""Create and end waivers, for the CLI, the API and the pages. A waiver never turns a finding into a pass."""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlmodel import Session

from app.errors import Rejected
from app.runs.shared_field_checks import ScopedSpec, check_lengths, check_rule, check_scope, load_known_skill
from app.store.waivers import WaiverRow, list_waivers, require_waiver
from app.text.clean import clean_line

MOST = 2000
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


def create_waiver(session: Session, spec: WaiverSpec, now: float, hosts_folder: Path) -> WaiverRow:
    _check_fields_and_rule(spec)
    check_scope(session, spec.host, spec.group, hosts_folder)
    in_force = [row for row in list_waivers(session) if row.is_in_force(now)]
    for row in in_force:
        if (row.rule, row.waiver.scope) == (spec.rule, spec.scope):
            same = f"waiver {row.id} is in force for {row.rule} on {row.waiver.scope.label} until {row.until}"
            raise Rejected("rule", f"{same}: end it first.", "exists")
    if len(in_force) >= MOST:
        raise Rejected("", f"there are {MOST} waivers in force already: end one first.", "too-many")
    made = WaiverRow(
        id=secrets.token_hex(4),
        rule=spec.rule,
        scope_kind=spec.scope.kind,
        scope_name=spec.scope.name,
        owner=_clean_and_truncate_field_text(spec, "owner"),
        reason=_clean_and_truncate_field_text(spec, "reason"),
        ticket=_clean_and_truncate_field_text(spec, "ticket"),
        until=_normalize_end_date(spec.until, now),
        by=spec.by,
        made_at=now,
    )
    session.add(made)
    return made


def end_waiver(session: Session, waiver: str, now: float, *, by: str, why: str) -> WaiverRow:
    """End a waiver early; runs in progress keep it. Raise Rejected if it is not in force or `why` is empty."""
    row = require_waiver(session, waiver)
    if not row.is_in_force(now):
        raise Rejected("waiver", f"waiver {row.id} is no longer in force, so there is nothing to end.")
    if not why.strip():
        raise Rejected("reason", "give a reason for ending it: the audit log records it.")
    row.ended_at, row.ended_by, row.ended_why = now, by, clean_line(why, LONGEST["reason"])
    session.add(row)
    return row


def _check_fields_and_rule(spec: WaiverSpec) -> None:
    check_lengths(spec, LONGEST)
    for field, request in _REQUIRED.items():
        if not _clean_and_truncate_field_text(spec, field):
            raise Rejected(field, request)
    check_rule("rule", spec.rule, load_known_skill(spec.skill))


def _clean_and_truncate_field_text(spec: WaiverSpec, field: str) -> str:
    return clean_line(getattr(spec, field), LONGEST[field]).strip()


def _normalize_end_date(date_text: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    try:
        day = date.fromisoformat(date_text.strip())
    except ValueError:
        raise Rejected("until", f"{date_text[:40]!a} is not a date: write it as {today + timedelta(90)}.") from None
    if not today < day <= today + timedelta(MOST_DAYS):
        limit = f"after today and by {today + timedelta(MOST_DAYS)} at the latest"
        raise Rejected("until", f"a waiver must end {limit}, since waivers are reviewed once a year.")
    return day.isoformat()
