"""Queries on schedules."""

from collections.abc import Sequence

from sqlmodel import Session, col, select

from app.store.models import ScheduleRow
from app.store.run_queries import require_row


def list_schedules(session: Session) -> Sequence[ScheduleRow]:
    return session.exec(select(ScheduleRow).order_by(col(ScheduleRow.host), col(ScheduleRow.made_at))).all()


def lock_and_list_due_schedules(session: Session, now: float) -> Sequence[ScheduleRow]:
    waiting = select(ScheduleRow).where(col(ScheduleRow.enabled), col(ScheduleRow.next_at) <= now)
    return session.exec(waiting.order_by(col(ScheduleRow.next_at)).with_for_update(skip_locked=True)).all()


def require_schedule(session: Session, schedule: str) -> ScheduleRow:
    return require_row(session, ScheduleRow, "schedule", schedule)
