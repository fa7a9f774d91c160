"""What earlier runs taught, told to the next attempt on the same rule."""

from collections.abc import Sequence

from sqlalchemy import Engine

from app.events.words import Lesson
from app.store import queries
from app.store.held import asking

TOLD = 3


class StoredLessons:
    def __init__(self, database: Engine) -> None:
        self._database = database

    def known(self, rule: str) -> Sequence[Lesson]:
        with asking(self._database) as session:
            return [
                Lesson(
                    id=row.id,
                    rule=row.rule,
                    mechanism=row.mechanism,
                    environment=row.environment,
                    advice=row.advice,
                )
                for row in queries.lessons_for(session, rule, TOLD)
            ]
