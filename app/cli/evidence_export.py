"""`temper evidence`: write one evidence document of a finished run, or the pack of all."""

import getpass

from app.cli.database_access import open_existing_database, resolve_run_id
from app.cli.output import write_output
from app.config import Settings
from app.errors import BadInput
from app.evidence.document_catalog import PAPERS
from app.evidence.external_log_receipt_by_command import parse_hook_command_json
from app.evidence.notary import Requester, change_signing_key, open_notary
from app.evidence.pack import FILE
from app.evidence.run_record import read_run_record
from app.scores.atif import build_trajectory
from app.store.events import EventStore

ZIP = "zip"
_BY_FORMAT = {paper.format: paper for paper in PAPERS}


def write_evidence(settings: Settings, id_prefix: str, form: str, out: str) -> None:
    paper = _BY_FORMAT.get(form)
    if paper is None and form != ZIP:
        raise BadInput(f"there is no format {form!r}: choose one of {', '.join([ZIP, *_BY_FORMAT])}.")
    database = open_existing_database(settings)
    run = resolve_run_id(database, id_prefix)
    if paper:
        content = paper.build(read_run_record(EventStore(database).read_events(run)))
    else:
        notary = open_notary(settings.data, database, settings.tsa, parse_hook_command_json(settings.log_hook))
        content = notary.issue_evidence(run, create_requester())
    write_output([content], out, f"{run}-{paper.file if paper else FILE}")


def create_requester() -> Requester:
    """Return the account that called the command, for the audit log."""
    return Requester(getpass.getuser(), "admin", "terminal")


def print_or_change_signing_key(settings: Settings, change_reason: str) -> None:
    notary = open_notary(settings.data, open_existing_database(settings))
    key = change_signing_key(notary, create_requester(), change_reason) if change_reason else notary.key
    print(key.public)  # noqa: T201  one line, for scripts


def export_trajectory(settings: Settings, id_prefix: str, out: str) -> None:
    database = open_existing_database(settings)
    run = resolve_run_id(database, id_prefix)
    content = build_trajectory(EventStore(database).read_events(run))
    write_output([content], out, f"{run}-trajectory.json")
