"""Create and end waivers, for the CLI, the API and the pages. A waiver never turns a finding into a pass."""

import secrets
from pathlib import Path

from sqlmodel import Session

from app.errors import Rejected
from app.runs.shared_field_checks import check_scope
from app.runs.waiver_spec import (
    LONGEST,
    WaiverSpec,
    check_waiver_fields_and_rule,
    clean_waiver_field,
    normalize_waiver_end_date,
)
from app.store.waivers import WaiverRow, list_waivers, require_waiver
from app.text.clean import clean_line

MOST = 2000


def create_waiver(session: Session, spec: WaiverSpec, now: float, hosts_folder: Path) -> WaiverRow:
    check_waiver_fields_and_rule(spec)
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
        owner=clean_waiver_field(spec, "owner"),
        reason=clean_waiver_field(spec, "reason"),
        ticket=clean_waiver_field(spec, "ticket"),
        until=normalize_waiver_end_date(spec.until, now),
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
