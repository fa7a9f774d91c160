"""`temper runs`: list runs, newest first."""

from collections.abc import Sequence

from sqlmodel import Session

from app.cli.database_access import open_existing_database, record_action, resolve_run_id
from app.cli.output import Row, print_stored_rows, to_row
from app.config import Settings
from app.runs.name_and_tags import set_run_labels
from app.store.models import RunRow
from app.store.run_list_filters_and_columns import COLUMNS, GivenFilters
from app.store.run_list_pages import read_run_page


def list_runs(settings: Settings, filters: GivenFilters, most: int, *, as_json: bool) -> None:
    columns = ("run", *(one.name for one in COLUMNS))

    def read_lines(session: Session) -> list[Row]:
        found = read_run_page(session, filters, None, most).rows
        return [to_row(row, columns, run=row.id, tags=tuple(row.tags.split())) for row in found]

    print_stored_rows(settings, read_lines, "No runs found. Start one with temper run.", as_json=as_json)


def set_run_name_and_tags(settings: Settings, id_prefix: str, name: str | None, tags: Sequence[str] | None) -> None:
    database = open_existing_database(settings)
    run = resolve_run_id(database, id_prefix)
    with Session(database) as session, session.begin():
        row = session.get_one(RunRow, run)
        set_run_labels(row, name, tags)
        called, tagged = row.name, row.tags
    record_action(database, f"name {run}", right="admin")
    print(f"Run {run} is called {called or 'nothing'}; tags: {tagged or 'none'}.")  # noqa: T201
