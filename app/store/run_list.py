"""Runs page by page, newest first, in both directions from a place in the list."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import tuple_
from sqlmodel import Session, col, select

from app.store.models import RunRow


@dataclass(frozen=True)
class ListPlace:
    forward: bool
    at: float
    id: str


@dataclass(frozen=True)
class Page:
    rows: Sequence[RunRow]
    more_before: bool
    more_after: bool


def page(
    session: Session,
    state: str | None,
    host: str | None,
    place: ListPlace | None,
    limit: int,
    only: Sequence[str] | None = None,
) -> Page:
    key = tuple_(col(RunRow.queued_at), col(RunRow.id))
    query = select(RunRow)
    if state:
        query = query.where(col(RunRow.state) == state)
    if host:
        query = query.where(col(RunRow.host) == host)
    if only is not None:
        query = query.where(col(RunRow.id).in_(only))
    forward = place is None or place.forward
    if place:
        here = tuple_(place.at, place.id)
        query = query.where(key < here if forward else key > here)
    order = (col(RunRow.queued_at), col(RunRow.id))
    query = query.order_by(*(column.desc() if forward else column.asc() for column in order)).limit(limit + 1)
    found = list(session.exec(query).all())
    more, rows = len(found) > limit, found[:limit]
    if not forward:
        return Page(rows[::-1], more, more_after=True)
    return Page(rows, place is not None, more)
