"""Create and end waivers, for the CLI, the API and the pages. A waiver never turns a finding into a pass."""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, Rejected
from app.events.host_scope import HostScope
from app.runs.scope import check_scope
from app.skills.catalog import load_skill, suggest_rules
from app.store.waivers import WaiverRow, list_waivers, require_waiver
from app.text.clean import clean_line

LONGEST = {"rule": 128, "host": 64, "group": 63, "skill": 200, "owner": 100, "reason": 1000, "ticket": 100}
MOST = 2000
MOST_DAYS = 366
"""Longest duration, so that an accepted risk is reviewed once a year."""


@dataclass(frozen=True, kw_only=True)
class WaiverSpec:
    rule: str
    host: str = ""
    """If host and group are empty: every host."""
    group: str = ""
    """Applies to the hosts in the group when a run begins."""
    owner: str
    reason: str
    ticket: str = ""
    until: str
    """Day of expiry, like 2027-01-31."""
    skill: str = "stig"
    """Skill that contains the rule."""
    by: str

    @property
    def scope(self) -> HostScope:
        return HostScope.from_names(self.host, self.group)


def create_waiver(session: Session, wish: WaiverSpec, now: float, hosts: Path) -> WaiverRow:
    _check_spec(wish)
    check_scope(session, wish.host, wish.group, hosts)
    there = [row for row in list_waivers(session) if row.is_in_force(now)]
    for row in there:
        if (row.rule, row.waiver.scope) == (wish.rule, wish.scope):
            said = (
                f"waiver {row.id} is in force for {row.rule} on {row.waiver.scope.label} until "
                f"{row.until}: end it first."
            )
            raise Rejected("rule", said, "exists")
    if len(there) >= MOST:
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
    for field, most in LONGEST.items():
        if (length := len(getattr(wish, field))) > most:
            raise Rejected(field, f"the {field} has {length} characters; the limit is {most}.")
    for field in ("owner", "reason"):
        if not _clean_field(wish, field):
            asked = {
                "owner": "give an owner, who accepts the risk.",
                "reason": "give a reason: the evidence contains it.",
            }
            raise Rejected(field, asked[field])
    try:
        pack = load_skill(wish.skill)
    except BadInput as exc:
        raise Rejected("skill", str(exc), "unknown-skill") from exc
    if wish.rule not in pack.rules:
        near = ", ".join(suggest_rules(wish.rule, pack) or [*pack.rules][:3])
        said = f"there is no rule {wish.rule[:60]!a} in {pack.title}: the nearest are {near}."
        raise Rejected("rule", said, "unknown-rule")


def _clean_field(wish: WaiverSpec, field: str) -> str:
    return clean_line(getattr(wish, field), LONGEST[field]).strip()


def _parse_until(words: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    try:
        day = date.fromisoformat(words.strip())
    except ValueError:
        raise Rejected("until", f"{words[:40]!a} is not a date: write it as {today + timedelta(90)}.") from None
    if not today < day <= today + timedelta(MOST_DAYS):
        last = today + timedelta(MOST_DAYS)
        said = f"a waiver must end after today and by {last} at the latest, since waivers are reviewed once a year."
        raise Rejected("until", said)
    return day.isoformat()
