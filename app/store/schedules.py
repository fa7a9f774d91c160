"""Queries on schedules."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from app.errors import Rejected
from app.store.models import ScheduleRow


def list_schedules(session: Session) -> Sequence[ScheduleRow]:
    return session.exec(select(ScheduleRow).order_by(col(ScheduleRow.host), col(ScheduleRow.made_at))).all()


def list_due_schedules(session: Session, now: float) -> Sequence[ScheduleRow]:
    waiting = select(ScheduleRow).where(col(ScheduleRow.enabled), col(ScheduleRow.next_at) <= now)
    return session.exec(waiting.order_by(col(ScheduleRow.next_at)).with_for_update(skip_locked=True)).all()


def require_schedule(session: Session, schedule: str) -> ScheduleRow:
    if row := session.get(ScheduleRow, schedule):
        return row
    said = f"there is no schedule {schedule[:40]!a}: temper schedule list and GET /api/v1/schedules show the schedules."
    raise Rejected("schedule", said, "not-found")
