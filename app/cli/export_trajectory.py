"""`temper export-trajectory`: a run for whoever trains on what agents do."""

import sys
from pathlib import Path

from rich.console import Console

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.config import Settings
from app.errors import BadInput
from app.scores.atif import trajectory
from app.store.events import EventStore


def export_trajectory(settings: Settings, wanted: str, out: str) -> None:
    database = existing_database(settings)
    run = find_run(database, wanted)
    content = trajectory(EventStore(database).events(run))
    if out == "-":
        sys.stdout.buffer.write(content)
        return
    path = Path(out or f"{run}-trajectory.json")
    try:
        path.write_bytes(content)
    except OSError as exc:
        raise BadInput(f"{path} cannot be written: {exc.strerror}. Choose another place with --out.") from exc
    Console().print(f"{path}, {len(content)} bytes", highlight=False, soft_wrap=True, markup=False)
