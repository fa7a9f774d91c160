"""`temper evidence`: write one evidence document of a finished run, or the pack of all."""

import getpass

from sqlalchemy import Engine

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.cli.written import write_out
from app.config import Settings
from app.errors import BadInput
from app.evidence.case import read_case
from app.evidence.notary import AskedBy, open_notary
from app.evidence.pack import FILE
from app.evidence.papers import PAPERS
from app.evidence.receipt import hook_words
from app.store.events import EventStore

ZIP = "zip"
_BY_FORMAT = {paper.format: paper for paper in PAPERS}


def write_evidence(settings: Settings, wanted: str, form: str, out: str) -> None:
    paper = _BY_FORMAT.get(form)
    if paper is None and form != ZIP:
        raise BadInput(f"there is no format {form!r}: choose one of {', '.join([ZIP, *_BY_FORMAT])}.")
    database = existing_database(settings)
    run = find_run(database, wanted)
    content = paper.made(read_case(EventStore(database).events(run))) if paper else _pack(settings, database, run)
    write_out([content], out, f"{run}-{paper.file if paper else FILE}")


def _pack(settings: Settings, database: Engine, run: str) -> bytes:
    return open_notary(settings.data, database, settings.tsa, hook_words(settings.log_hook)).evidence(
        run, AskedBy(getpass.getuser(), "admin", "terminal")
    )
