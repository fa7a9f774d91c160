"""Find a run by the first characters of its id."""

from sqlalchemy import Engine
from sqlmodel import Session

from app.errors import BadInput
from app.store import queries


def find_run(database: Engine, wanted: str) -> str:
    with Session(database) as session:
        found = [row.id for row in queries.find_runs_by_prefix(session, wanted)]
        newest = queries.find_newest_run(session)
        last = newest.id if newest else None
    if len(found) == 1:
        return found[0]
    if found:
        raise BadInput(f"{wanted!r} could be {', '.join(found)}: give more of the id.")
    if last is None:
        raise BadInput("there is no run in this data folder yet: start one with temper run.")
    raise BadInput(f"there is no run {wanted!r}: the newest is {last}.")
