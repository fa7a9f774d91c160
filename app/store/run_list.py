"""Lists runs page by page, newest first, in both directions."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import literal, or_, tuple_
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from app.store.models import RunRow

MOST_WORDS = 8
SEARCHED = ("id", "name", "tags", "host", "skill", "mode", "note", "reason")


@dataclass(frozen=True)
class RunSearch:
    state: str | None = None
    host: str | None = None
    tag: str | None = None
    words: str = ""
    """Every word must occur in a searched column."""
    only: Sequence[str] | None = None
    """Ids of the runs that may be shown; None shows all."""


@dataclass(frozen=True)
class ListPlace:
    forward: bool
    at: float
    id: str


@dataclass(frozen=True)
class RunPage:
    rows: Sequence[RunRow]
    more_before: bool
    more_after: bool


def read_run_page(session: Session, asked: RunSearch, place: ListPlace | None, limit: int) -> RunPage:
    key = tuple_(col(RunRow.queued_at), col(RunRow.id))
    query = _build_query(asked)
    forward = place is None or place.forward
    if place:
        here = tuple_(place.at, place.id)
        query = query.where(key < here if forward else key > here)
    order = (col(RunRow.queued_at), col(RunRow.id))
    query = query.order_by(*(column.desc() if forward else column.asc() for column in order)).limit(limit + 1)
    found = list(session.exec(query).all())
    more, rows = len(found) > limit, found[:limit]
    if not forward:
        return RunPage(rows[::-1], more, more_after=True)
    return RunPage(rows, place is not None, more)


def _build_query(asked: RunSearch) -> SelectOfScalar[RunRow]:
    query = select(RunRow)
    if asked.state:
        query = query.where(col(RunRow.state) == asked.state)
    if asked.host:
        query = query.where(col(RunRow.host) == asked.host)
    if asked.tag:
        query = query.where((literal(" ") + col(RunRow.tags) + " ").contains(f" {asked.tag} ", autoescape=True))
    for word in asked.words.split()[:MOST_WORDS]:
        query = query.where(or_(*(col(getattr(RunRow, name)).icontains(word, autoescape=True) for name in SEARCHED)))
    if asked.only is not None:
        query = query.where(col(RunRow.id).in_(asked.only))
    return query
