"""Finds the check of a run's changes after a reboot of its host."""

from dataclasses import dataclass

from sqlmodel import col, select

from app.events.kinds import RebootChecked
from app.loop.telling import describe_event
from app.runtime.runtime import Runtime
from app.store.held import open_read_session
from app.store.models import RunRow

MOST_LATER = 20
"""Most later scans of the host to search, newest first."""


@dataclass(frozen=True)
class RebootCheck:
    run: str
    seq: int
    text: str


def find_reboot_check(runtime: Runtime, row: RunRow) -> RebootCheck | None:
    """Return the newest reboot check of this run, or None."""
    later = select(RunRow.id).where(
        RunRow.host == row.host, RunRow.mode == "scan", col(RunRow.queued_at) > row.queued_at
    )
    with open_read_session(runtime.database) as session:
        runs = session.exec(later.order_by(col(RunRow.queued_at).desc()).limit(MOST_LATER)).all()
    for run in runs:
        for one in runtime.store.read_newest(run, None, ["reboot.checked"], 1):
            if isinstance(one.event, RebootChecked) and one.event.of == row.id:
                told = describe_event(one.event)
                return RebootCheck(run, one.seq, told.text if told else "")
    return None
