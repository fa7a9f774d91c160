"""Lessons of earlier runs, for the next attempt on the same rule."""

from collections.abc import Sequence

from sqlalchemy import or_, tuple_
from sqlmodel import Session, col, select

from app.store.models import LessonRow, RunRow

DROP_AFTER = 3
"""Uses without success after which a lesson is dropped."""
MOST_WORDS = 8
SEARCHED = ("rule", "host", "run", "mechanism", "environment", "advice")


def list_most_helpful_lessons_for_rule(session: Session, rule: str, limit: int) -> Sequence[LessonRow]:
    """Return the lessons with the best success rate first, without those that never helped."""
    query = (
        select(LessonRow)
        .where(col(LessonRow.rule) == rule, (col(LessonRow.hits) > 0) | (col(LessonRow.uses) < DROP_AFTER))
        .order_by((col(LessonRow.hits) * 1.0 / (col(LessonRow.uses) + 1)).desc(), col(LessonRow.at).desc())
    )
    return session.exec(query.limit(limit)).all()


def list_newest_lessons_and_simulated(
    session: Session, rule: str | None, search_text: str, after: tuple[float, str] | None, limit: int
) -> list[tuple[LessonRow, bool]]:
    """Return lessons with whether each run was simulated, newest first, after the (time, id) `after`."""
    at, name = col(LessonRow.at), col(LessonRow.id)
    query = select(LessonRow, RunRow.simulated).join(RunRow, col(RunRow.id) == col(LessonRow.run))
    if rule:
        query = query.where(col(LessonRow.rule) == rule)
    for word in search_text.split()[:MOST_WORDS]:
        query = query.where(or_(*(col(getattr(LessonRow, one)).icontains(word, autoescape=True) for one in SEARCHED)))
    if after:
        query = query.where(tuple_(at, name) < tuple_(*after))
    return list(session.exec(query.order_by(at.desc(), name.desc()).limit(limit)).all())
