"""Pause, resume and stop: asked of whoever works on the run, and taken up within a fraction of a second."""

import time
from typing import Annotated, Literal

from fastapi import Body
from sqlmodel import Session

from app.events.command import Verb
from app.people.rights import operators, signed
from app.store import queries
from app.store.models import CommandRow
from app.web.api.problem import Problem, documented
from app.web.api.route import router as api_router
from app.web.api.runs import the_run
from app.web.api.wire import Line, Who, Wire
from app.web.deps import TheSession

router = api_router("runs")

RunVerb = Literal["pause", "resume", "stop"]
_ALLOWED = {"pause": ("running",), "resume": ("paused",), "stop": queries.UNENDED}


class Wish(Wire):
    reason: Line = ""
    by: Who = "api"


class Asked(Wire):
    run: str
    asked: RunVerb
    state: str


_PROBLEMS = documented("not-found", "run-ended", "too-large", "wrong-content-type")
TheWish = Annotated[Wish | None, Body()]


@router.post("/runs/{run}/pause", status_code=202, responses=_PROBLEMS)
@operators
def pause_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """After the turn in progress. Budgets do not run while it is paused. One that is queued can only be stopped."""
    return _asked(session, run, "pause", wish)


@router.post("/runs/{run}/resume", status_code=202, responses=_PROBLEMS)
@operators
def resume_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """Go on."""
    return _asked(session, run, "resume", wish)


@router.post("/runs/{run}/stop", status_code=202, responses=_PROBLEMS)
@operators
def stop_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """The turn ends at once, and a change in progress is undone."""
    return _asked(session, run, "stop", wish)


def _asked(session: Session, run: str, verb: RunVerb, wish: Wish | None) -> Asked:
    row, wish = the_run(session, run), wish or Wish()
    if row.state not in queries.UNENDED:
        raise Problem("run-ended", f"Run {run} has ended ({row.state}): start another with POST /api/v1/runs.")
    if row.state not in _ALLOWED[verb]:
        raise Problem("wrong-state", f"Run {run} is {row.state}: {verb} is for one that is {_ALLOWED[verb][0]}.")
    ask(session, run, verb, wish.by, wish.reason)
    return Asked(run=run, asked=verb, state=row.state)


def ask(
    session: Session, run: str, verb: Verb, by: str, reason: str, approval: str = "", actions: str = ""
) -> CommandRow:
    row = CommandRow(
        run=run, verb=verb, by=signed(by), reason=reason, approval=approval, actions=actions, at=time.time()
    )
    queries.ask(session, row)
    return row
