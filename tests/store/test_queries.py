"""What pages and metrics ask of the rows of runs."""

from sqlmodel import Session

from app.store.db import open_database
from app.store.models import RunRow
from app.store.queries import list_newest_run_per_host

RUN = {"state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": ""}


def test_of_each_host_the_newest_run_that_has_started_counts(tmp_path):
    database = open_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        for run, host, at, started in (
            ("a", "web1", 2, 2),
            ("b", "web1", 3, 3),
            ("c", "web1", 4, None),
            ("d", "db1", 2, 9),
        ):
            session.add(RunRow(id=run, host=host, queued_at=at, started_at=started, **RUN))
        assert sorted(row.id for row in list_newest_run_per_host(session)) == ["b", "d"]
    database.dispose()
