"""Send pause, resume, stop, approve or refuse to the process that works on a run."""

import getpass
import time

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.cli.secret import secret
from app.config import Settings
from app.errors import BadInput, NotTaken
from app.events.command import Verb
from app.loop.inbox import open_approval
from app.loop.state import fold
from app.people.rights import may
from app.runs.answer import DECISIONS, answer
from app.runs.command import command
from app.store import queries
from app.store.events import EventStore
from app.web.access.credentials import Credentials


def ask_run(settings: Settings, wanted: str, verb: Verb, reason: str, token_from: str = "") -> None:
    """Send `verb` to a run. The caller is the token's owner if `token_from` is set, else the account."""
    database = existing_database(settings)
    run, (by, via) = find_run(database, wanted), _who(database, token_from)
    said = ""
    with Session(database) as session, session.begin():
        if verb in DECISIONS:
            state = fold(EventStore(database).brief(run))
            waiting = open_approval(state, time.time())
            if waiting is None:
                raise NotTaken("approval", f"run {run} waits for no approval now.", "not-waiting")
            far = answer(session, state, waiting, verb, by=by, via=via, reason=reason)
            said = f": {far.said}" if verb == "approve" and far.said else ""
        else:
            row = queries.run(session, run)
            assert row
            command(session, row, verb, by=by, reason=reason)
    Console().print(f"asked run {run} to {verb}{said}", highlight=False)


def _who(database: Engine, token_from: str) -> tuple[str, str]:
    if not token_from:
        return getpass.getuser(), "terminal"
    credentials = Credentials(database, demo=False)
    person = credentials.holder(secret(token_from))
    credentials.close()
    if person is None or not may(person.right, "operator"):
        raise BadInput("this is no token of an operator that still holds: temper token create makes one.")
    return person.name, person.via
