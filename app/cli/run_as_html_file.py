"""`temper share`: write a run as one HTML file that plays and checks itself."""

from sqlmodel import Session

from app.cli.database_access import open_existing_database, resolve_run_id
from app.cli.evidence_export import create_requester
from app.cli.output import write_output
from app.config import Settings
from app.errors import BadInput
from app.evidence.notary import open_notary
from app.lineups.reader import read_lineup, require_lineup_path
from app.store import run_queries
from app.store.events import EventStore
from app.web import routes  # noqa: F401  the templates link to addresses by name
from app.web.shared_file.shared_file_builder import StoredRuns, issue_shared_file, name_shared_file


def write_shared_file(settings: Settings, id_prefix: str, out: str, *, prompts: bool) -> None:
    database = open_existing_database(settings)
    run = resolve_run_id(database, id_prefix)
    with Session(database) as session:
        row = run_queries.find_run(session, run)
        session.expunge_all()
    assert row
    if row.state in run_queries.UNENDED:
        raise BadInput(f"run {run} is {row.state}: share it when it has ended.")
    archive = StoredRuns(EventStore(database), read_lineup(require_lineup_path(row.lineup)))
    content = issue_shared_file(archive, row, open_notary(settings.data, database), create_requester(), prompts=prompts)
    write_output([content], out, name_shared_file(run))
