"""The lessons page: the run that each lesson came from, how often it was used and how often it helped."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from app.people.rights import viewers
from app.store.lessons import DROP_AFTER, list_newest_lessons_and_simulated
from app.store.models import LessonRow
from app.web.deps import TheSession
from app.web.pages.templating import render_page

SHOWN = 100

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class LessonLine:
    lesson: LessonRow
    simulated: bool

    @property
    def usage_text(self) -> str:
        """How often the lesson was used and how often it helped, as a sentence."""
        if self.lesson.hits:
            return f"helped {self.lesson.hits} of {self.lesson.uses} times"
        if not self.lesson.uses:
            return "not used yet"
        told = f"used {self.lesson.uses} time{'s' if self.lesson.uses > 1 else ''}, has not helped yet"
        return told if self.lesson.uses < DROP_AFTER else f"used {self.lesson.uses} times without success: dropped"


@router.get("/lessons", name="lessons")
@viewers
def show_lessons(
    session: TheSession,
    q: Annotated[str, Query(max_length=200)] = "",
    rule: Annotated[str, Query(max_length=128)] = "",
    after: Annotated[str, Query(max_length=64)] = "",
) -> Response:
    """List lessons, newest first. `after` is the last lesson of the previous page."""
    last = session.get(LessonRow, after) if after else None
    found = list_newest_lessons_and_simulated(session, rule, q, (last.at, last.id) if last else None, SHOWN + 1)
    lines = [LessonLine(row, simulated) for row, simulated in found[:SHOWN]]
    older = lines[-1].lesson.id if len(found) > SHOWN else ""
    return render_page("lessons.html", here="lessons", lines=lines, q=q, rule=rule, older=older, paged=bool(last))
