"""Pause, resume, stop, approve, refuse: asked of whichever process works on the run."""

import getpass
import time

from rich.console import Console
from sqlalchemy import Engine
from sqlmodel import Session

from app.cli.find_run import find_run
from app.config import Settings
from app.errors import BadInput
from app.events.command import Verb
from app.loop.state import RunState, fold
from app.store import queries
from app.store.db import open_database
from app.store.events import EventStore
from app.store.models import CommandRow

FROM: dict[Verb, str] = {"pause": "running", "resume": "paused"}


def ask_run(settings: Settings, wanted: str, verb: Verb, reason: str) -> None:
    database = open_database(settings.database)
    run = find_run(database, wanted)
    state = fold(EventStore(database).brief(run))
    if state.ended:
        raise BadInput(f"run {run} has ended ({state.status}): there is nothing to {verb}.")
    if verb in FROM and state.status != FROM[verb]:
        raise BadInput(f"run {run} is {state.status}: only a {FROM[verb]} run can be asked to {verb}.")
    approval = _approval(state, run) if verb in ("approve", "refuse") else ""
    put(database, run, verb, reason=reason, approval=approval, by=getpass.getuser())
    Console().print(f"asked run {run} to {verb}", highlight=False)


def put(database: Engine, run: str, verb: Verb, *, by: str, reason: str = "", approval: str = "") -> None:
    row = CommandRow(run=run, verb=verb, by=by, reason=reason, approval=approval, at=time.time())
    with Session(database) as session, session.begin():
        queries.ask(session, row)


def _approval(state: RunState, run: str) -> str:
    attempt = state.item.attempt if state.item else None
    if attempt is None or attempt.approval is None or not attempt.awaits_person:
        raise BadInput(f"run {run} waits for no approval now.")
    return attempt.approval.approval
