"""`temper name`: set the name and tags of a run."""

import getpass
from collections.abc import Sequence

from sqlmodel import Session

from app.cli.existing import open_existing_database
from app.cli.find_run import find_run
from app.config import Settings
from app.events.kinds import PersonDid
from app.runs.labels import set_run_labels
from app.store import audit
from app.store.models import RunRow


def name_run(settings: Settings, wanted: str, name: str | None, tags: Sequence[str] | None) -> None:
    database = open_existing_database(settings)
    run = find_run(database, wanted)
    with Session(database) as session, session.begin():
        row = session.get_one(RunRow, run)
        set_run_labels(row, name, tags)
        called, tagged = row.name, row.tags
    who = getpass.getuser()
    audit.record_audit_event(
        database, PersonDid(who=who, right="admin", via="terminal", source="", did=f"name {run}", status=0)
    )
    print(f"Run {run} is called {called or 'nothing'}; tags: {tagged or 'none'}.")  # noqa: T201
