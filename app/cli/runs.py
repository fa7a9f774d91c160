"""`temper runs`: list runs, newest first."""

from collections.abc import Sequence
from dataclasses import make_dataclass
from typing import Any

from sqlmodel import Session

from app.cli.database_access import find_run, open_existing_database, record_action
from app.cli.output import print_stored_rows, to_datetime
from app.config import Settings
from app.runs.labels import set_run_labels
from app.store.models import RunRow
from app.store.run_list import read_run_page
from app.store.run_listing import COLUMNS, GivenFilters


def list_runs(settings: Settings, filters: GivenFilters, most: int, *, as_json: bool) -> None:
    def read_lines(session: Session) -> list[Any]:
        return [_to_run_line(row) for row in read_run_page(session, filters, None, most).rows]

    print_stored_rows(settings, read_lines, "No runs found. Start one with temper run.", as_json=as_json)


RunLine = make_dataclass("RunLine", ["run", *(one.name for one in COLUMNS)])


def _to_run_line(row: RunRow) -> Any:
    said = {one.name: getattr(row, one.name) for one in COLUMNS}
    times = {name: to_datetime(value) for name, value in said.items() if name.endswith("_at")}
    return RunLine(run=row.id, **said | times | {"tags": tuple(row.tags.split())})


def name_run(settings: Settings, wanted: str, name: str | None, tags: Sequence[str] | None) -> None:
    database = open_existing_database(settings)
    run = find_run(database, wanted)
    with Session(database) as session, session.begin():
        row = session.get_one(RunRow, run)
        set_run_labels(row, name, tags)
        called, tagged = row.name, row.tags
    record_action(database, f"name {run}", right="admin")
    print(f"Run {run} is called {called or 'nothing'}; tags: {tagged or 'none'}.")  # noqa: T201
