"""Create and end waivers, for the CLI, the API and the pages. A waiver never turns a finding into a pass."""

import secrets
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from sqlmodel import Session

from app.errors import BadInput, NotTaken
from app.events.scope import HostScope
from app.runs.scope import checked_scope
from app.skills.catalog import nearest, skill
from app.store.waivers import WaiverRow, known, waivers
from app.text.clean_line import clean_line

LONGEST = {"rule": 128, "host": 64, "group": 63, "skill": 200, "owner": 100, "reason": 1000, "ticket": 100}
MOST = 2000
MOST_DAYS = 366
"""Longest duration, so that an accepted risk is reviewed once a year."""


@dataclass(frozen=True, kw_only=True)
class WaiverWish:
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
        return HostScope.of(self.host, self.group)


def waive(session: Session, wish: WaiverWish, now: float, hosts: Path) -> WaiverRow:
    _check(wish)
    checked_scope(session, wish.host, wish.group, hosts)
    there = [row for row in waivers(session) if row.in_force(now)]
    for row in there:
        if (row.rule, row.waiver.scope) == (wish.rule, wish.scope):
            said = f"waiver {row.id} holds for {row.rule} on {row.waiver.scope.told} until {row.until}: end it first."
            raise NotTaken("rule", said, "exists")
    if len(there) >= MOST:
        raise NotTaken("", f"there are {MOST} waivers in force already: end one first.", "too-many")
    made = WaiverRow(
        id=secrets.token_hex(4),
        rule=wish.rule,
        scope_kind=wish.scope.kind,
        scope_name=wish.scope.name,
        owner=_line(wish, "owner"),
        reason=_line(wish, "reason"),
        ticket=_line(wish, "ticket"),
        until=_day(wish.until, now),
        by=wish.by,
        made_at=now,
    )
    session.add(made)
    return made


def end_waiver(session: Session, waiver: str, now: float, *, by: str, why: str) -> WaiverRow:
    """End a waiver early; runs in progress keep it. Raise Rejected if it is not in force or `why` is empty."""
    row = known(session, waiver)
    if not row.in_force(now):
        raise NotTaken("waiver", f"waiver {row.id} does not hold any more, so there is nothing to end.")
    if not why.strip():
        raise NotTaken("reason", "say why it ends: it goes on record.")
    row.ended_at, row.ended_by, row.ended_why = now, by, clean_line(why, LONGEST["reason"])
    session.add(row)
    return row


def _check(wish: WaiverWish) -> None:
    for field, most in LONGEST.items():
        if (length := len(getattr(wish, field))) > most:
            raise NotTaken(field, f"the {field} has {length} characters: {most} are the most.")
    for field in ("owner", "reason"):
        if not _line(wish, field):
            asked = {"owner": "say who answers for it: a waiver has an owner.", "reason": "say why: it is on paper."}
            raise NotTaken(field, asked[field])
    try:
        pack = skill(wish.skill)
    except BadInput as exc:
        raise NotTaken("skill", str(exc), "unknown-skill") from exc
    if wish.rule not in pack.rules:
        near = ", ".join(nearest(wish.rule, pack) or [*pack.rules][:3])
        said = f"there is no rule {wish.rule[:60]!a} in {pack.title}: the nearest are {near}."
        raise NotTaken("rule", said, "unknown-rule")


def _line(wish: WaiverWish, field: str) -> str:
    return clean_line(getattr(wish, field), LONGEST[field]).strip()


def _day(words: str, now: float) -> str:
    today = datetime.fromtimestamp(now, UTC).date()
    try:
        day = date.fromisoformat(words.strip())
    except ValueError:
        raise NotTaken("until", f"{words[:40]!a} is no day: write it as {today + timedelta(90)}.") from None
    if not today < day <= today + timedelta(MOST_DAYS):
        last = today + timedelta(MOST_DAYS)
        said = f"a waiver ends after today and by {last} at the latest: it is looked at again once a year."
        raise NotTaken("until", said)
    return day.isoformat()
