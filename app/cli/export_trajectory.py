"""`temper export-trajectory`: write a run as an ATIF trajectory."""

from app.cli.existing import open_existing_database
from app.cli.find_run import find_run
from app.cli.written import write_output
from app.config import Settings
from app.scores.atif import build_trajectory
from app.store.events import EventStore


def export_trajectory(settings: Settings, wanted: str, out: str) -> None:
    database = open_existing_database(settings)
    run = find_run(database, wanted)
    content = build_trajectory(EventStore(database).read_events(run))
    write_output([content], out, f"{run}-trajectory.json")
