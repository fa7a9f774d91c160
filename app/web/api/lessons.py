"""Lessons from failures, over all runs."""

from typing import Annotated

from fastapi import Query
from pydantic import Field

from app.people.rights import viewers
from app.store.lessons import list_newest_lessons_and_simulated
from app.store.run_list_pages import ListPlace
from app.web.api.api_model import ApiModel, Limit, Time
from app.web.api.api_route import create_router as api_router
from app.web.api.page_cursor import format_page_cursor, parse_page_cursor
from app.web.api.problem import build_problem_responses
from app.web.deps import TheSession

router = api_router("lessons")


class LessonView(ApiModel):
    id: str
    rule: str
    host: str
    run: str
    at: Time
    simulated: bool = Field(description="True if engines or GPUs of the run that produced the lesson were simulated.")
    mechanism: str
    environment: str
    advice: str
    uses: int = Field(description="Attempts that received the lesson.")
    hits: int = Field(description="Attempts that received the lesson and passed.")


class LessonList(ApiModel):
    lessons: list[LessonView]
    next: str | None = Field(description="`cursor` of the next page with older lessons; None at the end.")


@router.get("/lessons", responses=build_problem_responses("bad-cursor"))
@viewers
def list_lessons(
    session: TheSession,
    rule: Annotated[str | None, Query(min_length=1, max_length=128)] = None,
    q: Annotated[str, Query(max_length=200, description="Only lessons that contain these words.")] = "",
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    limit: Limit = 100,
) -> LessonList:
    """List lessons, newest first."""
    after = parse_page_cursor(cursor) if cursor is not None else None
    found = list_newest_lessons_and_simulated(session, rule, q, (after.at, after.id) if after else None, limit + 1)
    shown = found[:limit]
    last = shown[-1][0] if len(found) > limit else None
    return LessonList(
        lessons=[LessonView.from_source(row, simulated=simulated) for row, simulated in shown],
        next=format_page_cursor(ListPlace(forward=True, at=last.at, id=last.id)) if last else None,
    )
