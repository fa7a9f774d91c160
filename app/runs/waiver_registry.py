"""Create and end waivers, for the CLI, the API and the pages. A waiver never turns a finding into a pass."""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlmodel import Session

from app.errors import Rejected
from app.runs.spec_checks import ScopedSpec, check_lengths, check_rule, check_scope, load_known_skill
from app.store.waivers import WaiverRow, list_waivers, require_waiver
from app.text.clean import clean_line

LONGEST = {"rule": 128, "host": 64, "group": 63, "skill": 200, "owner": 100, "reason": 1000, "ticket": 100}
MOST = 2000
MOST_DAYS = 366
"""Longest duration, so that an accepted risk is reviewed once a year."""
_REQUIRED = {
    "owner": "give an owner, who accepts the risk.",
    "reason": "give a reason: the evidence contains it.",
}


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


def create_waiver(session: Session, wish: WaiverSpec, now: float, hosts: Path) -> WaiverRow:
    _check_spec(wish)
    check_scope(session, wish.host, wish.group, hosts)
    in_force = [row for row in list_waivers(session) if row.is_in_force(now)]
    for row in in_force:
        if (row.rule, row.waiver.scope) == (wish.rule, wish.scope):
            same = f"waiver {row.id} is in force for {row.rule} on {row.waiver.scope.label} until {row.until}"
            raise Rejected("rule", f"{same}: end it first.", "exists")
    if len(in_force) >= MOST:
        raise Rejected("", f"there are {MOST} waivers in force already: end one first.", "too-many")
    made = WaiverRow(
        id=secrets.token_hex(4),
        rule=wish.rule,
        scope_kind=wish.scope.kind,
        scope_name=wish.scope.name,
        owner=_clean_field(wish, "owner"),
        reason=_clean_field(wish, "reason"),
        ticket=_clean_field(wish, "ticket"),
        until=_parse_until(wish.until, now),
        by=wish.by,
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


def _check_spec(wish: WaiverSpec) -> None:
    check_lengths(wish, LONGEST)
    for field, request in _REQUIRED.items():
        if not _clean_field(wish, field):
            raise Rejected(field, request)
    check_rule("rule", wish.rule, load_known_skill(wish.skill))


def _clean_field(wish: WaiverSpec, field: str) -> str:
    return clean_line(getattr(wish, field), LONGEST[field]).strip()


def _parse_until(words: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    try:
        day = date.fromisoformat(words.strip())
    except ValueError:
        raise Rejected("until", f"{words[:40]!a} is not a date: write it as {today + timedelta(90)}.") from None
    if not today < day <= today + timedelta(MOST_DAYS):
        limit = f"after today and by {today + timedelta(MOST_DAYS)} at the latest"
        raise Rejected("until", f"a waiver must end {limit}, since waivers are reviewed once a year.")
    return day.isoformat()
