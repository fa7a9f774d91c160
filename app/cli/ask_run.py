"""Pause, resume, stop, approve, refuse: asked of whichever process works on the run."""

import getpass
import time

from rich.console import Console
from sqlmodel import Session

from app.cli.existing import existing_database
from app.cli.find_run import find_run
from app.config import Settings
from app.errors import NotTaken
from app.events.command import Verb
from app.loop.inbox import open_approval
from app.loop.state import fold
from app.runs.answer import DECISIONS, answer
from app.runs.command import command
from app.store import queries
from app.store.events import EventStore


def ask_run(settings: Settings, wanted: str, verb: Verb, reason: str) -> None:
    database = existing_database(settings)
    run, by = find_run(database, wanted), getpass.getuser()
    with Session(database) as session, session.begin():
        if verb in DECISIONS:
            state = fold(EventStore(database).brief(run))
            waiting = open_approval(state, time.time())
            if waiting is None:
                raise NotTaken("approval", f"run {run} waits for no approval now.", "not-waiting")
            answer(session, state, waiting, verb, by=by, reason=reason)
        else:
            row = queries.run(session, run)
            assert row
            command(session, row, verb, by=by, reason=reason)
    Console().print(f"asked run {run} to {verb}", highlight=False)
