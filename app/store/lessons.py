"""Lessons of earlier runs, for the next attempt on the same rule."""

from collections.abc import Sequence

from sqlalchemy import Engine, or_, tuple_
from sqlmodel import Session, col, select

from app.events.vocabulary import Lesson
from app.store import queries
from app.store.models import LessonRow, RunRow
from app.store.request_session import open_read_session

TOLD = 3
MOST_WORDS = 8
SEARCHED = ("rule", "host", "run", "mechanism", "environment", "advice")


class StoredLessons:
    def __init__(self, database: Engine) -> None:
        self._database = database

    def list_known_lessons(self, rule: str) -> Sequence[Lesson]:
        with open_read_session(self._database) as session:
            return [
                Lesson(
                    id=row.id,
                    rule=row.rule,
                    mechanism=row.mechanism,
                    environment=row.environment,
                    advice=row.advice,
                )
                for row in queries.list_lessons_for_rule(session, rule, TOLD)
            ]


def list_newest_lessons(
    session: Session, rule: str | None, words: str, after: tuple[float, str] | None, limit: int
) -> list[tuple[LessonRow, bool]]:
    """Return lessons with whether each run was simulated, newest first, after the (time, id) `after`."""
    at, name = col(LessonRow.at), col(LessonRow.id)
    query = select(LessonRow, RunRow.simulated).join(RunRow, col(RunRow.id) == col(LessonRow.run))
    if rule:
        query = query.where(col(LessonRow.rule) == rule)
    for word in words.split()[:MOST_WORDS]:
        query = query.where(or_(*(col(getattr(LessonRow, one)).icontains(word, autoescape=True) for one in SEARCHED)))
    if after:
        query = query.where(tuple_(at, name) < tuple_(*after))
    return list(session.exec(query.order_by(at.desc(), name.desc()).limit(limit)).all())
