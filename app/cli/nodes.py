"""`temper nodes`: list the processes that share the database."""

import sys
from dataclasses import dataclass

from sqlmodel import Session

from app.cli.existing_database import describe_missing_database, has_database
from app.cli.listing import print_rows
from app.config import Settings
from app.store import nodes
from app.store.db import is_shared, open_database
from app.targets.held_hosts import find_held

AT_WORK, NOBODY = 0, 2


@dataclass(frozen=True)
class NodeLine:
    node: str
    kind: str
    silent_seconds: float
    keeps: tuple[str, ...]
    runs: tuple[str, ...]
    clock_off_seconds: float


def print_nodes(settings: Settings, *, as_json: bool = False) -> int:
    """Print the nodes. Return NOBODY if no node works on runs."""
    if not has_database(settings):
        print_rows([], describe_missing_database(settings), as_json=as_json)
        return AT_WORK
    database = open_database(settings.database_location)
    try:
        if not is_shared(database):
            print_rows(
                [],
                f"{settings.database_location} is a file, which only one process uses at a time. Nodes "
                "need PostgreSQL: set TEMPER_DATABASE_URL.",
                as_json=as_json,
            )
            return AT_WORK
        with Session(database) as session:
            living, at_work, lost = (
                nodes.list_node_statuses(session),
                nodes.list_responsive_nodes(session),
                nodes.given_up(session),
            )
    finally:
        database.dispose()
    rows = [
        NodeLine(
            one.name,
            one.kind,
            one.silent_seconds,
            ("schedules", "webhooks") * one.leads,
            tuple(one.runs),
            round(one.clock_off, 3),
        )
        for one in living
    ]
    for one in lost:
        said = f"temper: node {one.name} has been silent for {one.silent_seconds:.0f} s and was given up"
        print(said, file=sys.stderr)  # noqa: T201
    for held in find_held(settings.hosts_folder):
        print(f"temper: {held.sentence}", file=sys.stderr)  # noqa: T201
    print_rows(rows, "no node works on this database: start temper serve or temper worker.", as_json=as_json)
    return AT_WORK if at_work else NOBODY
