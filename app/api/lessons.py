"""What failures taught, over all runs."""

from typing import Annotated

from fastapi import Query
from pydantic import Field
from sqlmodel import col, select

from app.api.problem import documented
from app.api.route import router as api_router
from app.api.wire import Limit, Wire, when
from app.deps import TheSession
from app.store.models import LessonRow

router = api_router("lessons")


class LessonView(Wire):
    id: str
    rule: str
    host: str
    run: str
    at: str
    mechanism: str
    environment: str
    advice: str
    uses: int = Field(description="Attempts that were told it.")
    hits: int = Field(description="Those of them that passed.")


class LessonList(Wire):
    lessons: list[LessonView]


@router.get("/lessons", responses=documented())
def list_lessons(
    session: TheSession, rule: Annotated[str | None, Query(max_length=32)] = None, limit: Limit = 100
) -> LessonList:
    """Newest first."""
    query = select(LessonRow).order_by(col(LessonRow.at).desc(), col(LessonRow.id)).limit(limit)
    rows = session.exec(query.where(col(LessonRow.rule) == rule) if rule else query).all()
    return LessonList(lessons=[LessonView(**(row.model_dump() | {"at": when(row.at)})) for row in rows])
