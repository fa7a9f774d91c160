"""`temper export-trajectory`: write a run as an ATIF trajectory."""

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.cli.written import write_out
from app.config import Settings
from app.scores.atif import trajectory
from app.store.events import EventStore


def export_trajectory(settings: Settings, wanted: str, out: str) -> None:
    database = existing_database(settings)
    run = find_run(database, wanted)
    content = trajectory(EventStore(database).events(run))
    write_out([content], out, f"{run}-trajectory.json")
