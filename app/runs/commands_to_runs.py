"""Send pause, resume and stop to a run, for the CLI, the API and the pages. Raise Rejected in a wrong state."""

from sqlmodel import Session

from app.errors import Rejected
from app.runs.shared_field_checks import check_length
from app.store import run_queries
from app.store.database_clock import database_time
from app.store.models import CommandRow, RunRow
from app.text.clean import clean_text

LONGEST_REASON, LONGEST_NAME = 500, 64
FOR = {"pause": ("running",), "resume": ("paused",), "stop": run_queries.UNENDED}
"""Allowed run states for each verb."""


def command_run(session: Session, run_row: RunRow, verb: str, *, by: str, reason: str = "") -> None:
    if verb not in FOR:
        raise Rejected("verb", f"{verb[:40]!a} is not a command for a run: choose one of {', '.join(FOR)}.")
    if run_row.state not in run_queries.UNENDED:
        raise Rejected("", f"run {run_row.id} has ended ({run_row.state}): there is nothing to {verb}.", "run-ended")
    if run_row.state not in FOR[verb]:
        needed = f"the command {verb} requires a {FOR[verb][0]} run"
        raise Rejected("", f"run {run_row.id} is {run_row.state}: {needed}.", "wrong-state")
    session.add(create_command_row(run_row.id, verb, by, reason, database_time(session)))


def create_command_row(run: str, verb: str, by: str, reason: str, at: float) -> CommandRow:
    check_length("reason", reason, LONGEST_REASON)
    by, reason = clean_text(by, LONGEST_NAME), clean_text(reason, LONGEST_REASON)
    return CommandRow(run=run, verb=verb, by=by, reason=reason, at=at)
