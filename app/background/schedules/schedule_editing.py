"""Validate and store schedules, for the CLI, the API and the pages."""

import secrets
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec
from sqlmodel import Session

from app.background.schedules.cron_times import compute_next_time
from app.background.schedules.schedule_start_grace_and_time_limit import validate_window_to_seconds
from app.errors import Rejected
from app.events.event_field_types import Mode
from app.runs.order import Order, resolve_mode, split_at_commas_unless_none, validate_order_and_load_skill
from app.runs.rollout.rollout_request import USUAL_TERMS, RolloutTerms, check_terms
from app.runs.shared_field_checks import check_lengths
from app.store.models import ScheduleRow
from app.store.schedules import list_schedules, require_schedule
from app.targets.host_registry import FIXTURE

LONGEST = {"cron": 100, "zone": 64}
MOST = 200


@dataclass(frozen=True, kw_only=True)
class ScheduleSpec:
    order: Order
    cron: str
    zone: str = "UTC"
    window_minutes: float | None = None
    hosts: tuple[str, ...] = ()
    """Hosts of a rollout at creation; `words` selects them again at each start."""
    words: str = ""
    terms: RolloutTerms = USUAL_TERMS


def create_schedule_row(wanted: ScheduleSpec, now: float, hosts_folder: Path) -> ScheduleRow:
    order, cron, zone = wanted.order, wanted.cron.strip(), wanted.zone.strip()
    mode = _resolve_valid_mode(wanted, hosts_folder)
    check_lengths(wanted, LONGEST)
    window_seconds = validate_window_to_seconds(wanted.window_minutes, mode)
    return ScheduleRow(
        id=secrets.token_hex(3),
        host=wanted.words or order.host,
        rollout=msgspec.json.encode(wanted.terms).decode() if wanted.words else "",
        skill=order.skill,
        rules="" if order.has_all_or_unset_rules else ",".join(order.rules or ()),
        mode=mode,
        cron=cron,
        zone=zone,
        window_seconds=window_seconds,
        by=order.by,
        made_at=now,
        next_at=compute_next_time(cron, zone, now),
    )


def _resolve_valid_mode(wanted: ScheduleSpec, hosts_folder: Path) -> Mode:
    if not wanted.words:
        return resolve_mode(wanted.order, validate_order_and_load_skill(wanted.order, hosts_folder))
    check_terms(wanted.terms)
    orders = [replace(wanted.order, host=host) for host in wanted.hosts]
    modes = {resolve_mode(order, validate_order_and_load_skill(order, hosts_folder)) for order in orders}
    if len(modes) != 1:
        raise Rejected("mode", "its hosts have different default modes: give the mode.")
    return modes.pop()


def insert_schedule_unless_duplicate_or_full(session: Session, row: ScheduleRow) -> None:
    there = list_schedules(session)
    if same := [one for one in there if _get_duplicate_check_fields(one) == _get_duplicate_check_fields(row)]:
        raise Rejected("", f"schedule {same[0].id} already does the same.", "exists")
    if len(there) >= MOST:
        raise Rejected("", f"there are {MOST} schedules already: remove one first.", "too-many")
    session.add(row)


def _get_duplicate_check_fields(row: ScheduleRow) -> tuple[object, ...]:
    return row.host, row.rollout, row.skill, row.rules, row.mode, row.cron, row.zone, row.window_seconds


def pause_resume_or_remove_schedule(session: Session, schedule_id: str, verb: str, now: float) -> ScheduleRow:
    """Pause, resume or remove a schedule. A paused schedule misses no times."""
    row = require_schedule(session, schedule_id)
    if verb == "remove":
        session.delete(row)
    elif verb in ("pause", "resume"):
        row.enabled, row.next_at = verb == "resume", compute_next_time(row.cron, row.zone, now)
        session.add(row)
    else:
        raise Rejected("verb", f"{verb[:40]!a} is not a command for a schedule: choose pause, resume or remove.")
    return row


def decode_rollout_terms(row: ScheduleRow) -> RolloutTerms:
    return msgspec.json.decode(row.rollout, type=RolloutTerms)


def create_order_from_schedule(row: ScheduleRow, pace: float) -> Order:
    return Order(
        host=FIXTURE if row.rollout else row.host,
        skill=row.skill,
        rules=split_at_commas_unless_none(row.rules) or None,
        mode=row.mode,
        keep=True,
        note=f"schedule {row.id}",
        pace=pace,
        by=f"schedule {row.id} of {row.by}",
        whose=row.by,
    )
