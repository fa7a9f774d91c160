"""Lists runs page by page, newest first, in both directions."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import ColumnElement, literal, or_, tuple_
from sqlmodel import Session, col, select

from app.store.models import RunRow
from app.store.run_list_filters_and_columns import FILTERS, SEARCHED, GivenFilters, RunFilter

MOST_WORDS = 8


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


def read_run_page(
    session: Session,
    filters: GivenFilters,
    start_position: ListPlace | None,
    limit: int,
    allowed_run_ids: Sequence[str] | None = None,
) -> RunPage:
    """Return the runs that match the filters. `allowed_run_ids`: ids of the runs that may be shown; None shows all."""
    key = tuple_(col(RunRow.queued_at), col(RunRow.id))
    given = [(FILTERS[name], value) for name, value in filters.items() if value]
    query = select(RunRow).where(*(condition for one in given for condition in _build_conditions(*one)))
    if allowed_run_ids is not None:
        query = query.where(col(RunRow.id).in_(allowed_run_ids))
    forward = start_position is None or start_position.forward
    if start_position:
        here = tuple_(start_position.at, start_position.id)
        query = query.where(key < here if forward else key > here)
    order = (col(RunRow.queued_at), col(RunRow.id))
    query = query.order_by(*(column.desc() if forward else column.asc() for column in order)).limit(limit + 1)
    found = list(session.exec(query).all())
    more, rows = len(found) > limit, found[:limit]
    if not forward:
        return RunPage(rows[::-1], more, more_after=True)
    return RunPage(rows, start_position is not None, more)


def _build_conditions(run_filter: RunFilter, value: str) -> Iterator[ColumnElement[bool]]:
    if run_filter.match == "search":
        for word in value.split()[:MOST_WORDS]:
            yield or_(*(col(getattr(RunRow, name)).icontains(word, autoescape=True) for name in SEARCHED))
        return
    column = col(getattr(RunRow, run_filter.column or run_filter.name))
    if run_filter.match == "word":
        yield (literal(" ") + column + " ").contains(f" {value} ", autoescape=True)
    else:
        yield column == value
