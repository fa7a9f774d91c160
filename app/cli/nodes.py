"""`temper nodes`: list the processes that share the database."""

from dataclasses import dataclass

from sqlmodel import Session

from app.cli.existing import is_there, nothing_there
from app.cli.listing import listed
from app.config import Settings
from app.store import nodes
from app.store.db import open_database, shared

AT_WORK, NOBODY = 0, 2


@dataclass(frozen=True)
class NodeLine:
    node: str
    kind: str
    silent_seconds: float
    keeps: tuple[str, ...]
    runs: tuple[str, ...]


def show_nodes(settings: Settings, *, as_json: bool = False) -> int:
    """Print the nodes. Return NOBODY if no node works on runs."""
    if not is_there(settings):
        listed([], nothing_there(settings), as_json=as_json)
        return AT_WORK
    database = open_database(settings.database)
    try:
        if not shared(database):
            listed([], f"{settings.database} is a file: one process works on it at a time.", as_json=as_json)
            return AT_WORK
        with Session(database) as session:
            living, at_work = nodes.standings(session), nodes.at_work(session)
    finally:
        database.dispose()
    rows = [
        NodeLine(one.name, one.kind, one.silent_seconds, ("schedules", "webhooks") * one.leads, tuple(one.runs))
        for one in living
    ]
    listed(rows, "no node lives on this database: start temper serve or temper worker.", as_json=as_json)
    return AT_WORK if at_work else NOBODY
