"""Send pause, resume, stop, approve or refuse to the process that works on a run."""

import getpass

from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.database_access import open_existing_database, resolve_run_id
from app.cli.options import read_secret
from app.cli.output import print_line
from app.config import Settings
from app.errors import BadInput, Rejected
from app.events.person_command import Verb
from app.loop.inbox import find_open_approval_id
from app.loop.state import fold_events
from app.people.rights import has_right
from app.runs.approval_answer import DECISIONS, AnswerMeans, record_answer
from app.runs.commands_to_runs import command_run
from app.store import run_queries
from app.store.database_clock import database_time, open_clock
from app.store.events import EventStore
from app.web.access.authenticator import Authenticator


def record_run_command_in_database(
    settings: Settings, id_prefix: str, verb: Verb, reason: str, token_from: str = ""
) -> None:
    """Send `verb` to a run. The caller is the token's owner if `token_from` is set, else the account."""
    database = open_existing_database(settings)
    run, (by, means) = resolve_run_id(database, id_prefix), _identify_caller_and_means(database, token_from)
    remaining = ""
    with Session(database) as session, session.begin():
        if verb in DECISIONS:
            state = fold_events(EventStore(database).read_events_for_fold(run))
            waiting = find_open_approval_id(state, database_time(session))
            if waiting is None:
                raise Rejected("approval", f"run {run} is not waiting for an approval.", "not-waiting")
            progress = record_answer(session, state, waiting, verb, by=by, sign_in_means=means, reason=reason)
            remaining = f": {progress.remaining_text}" if verb == "approve" and progress.remaining_text else ""
        else:
            row = run_queries.find_run(session, run)
            assert row
            command_run(session, row, verb, by=by, reason=reason)
    print_line(f"asked run {run} to {verb}{remaining}")


def _identify_caller_and_means(database: Engine, token_from: str) -> tuple[str, AnswerMeans]:
    if not token_from:
        return getpass.getuser(), AnswerMeans("terminal")
    credentials = Authenticator(database, demo=False, clock=open_clock(database).now)
    person = credentials.find_token_owner(read_secret(token_from))
    credentials.close()
    if person is None or not has_right(person.right, "operator"):
        raise BadInput("this is not a valid token of an operator: create one with temper token create.")
    return person.name, AnswerMeans(person.via, person.credential, person.made_by)
