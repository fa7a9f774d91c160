"""Pause, resume and stop runs. The run's worker obeys within a fraction of a second."""

from typing import Annotated, Literal

from fastapi import Body
from sqlmodel import Session

from app.people.rights import operators, signed
from app.runs.command import LONGEST_REASON, command
from app.web.api.problem import documented
from app.web.api.route import router as api_router
from app.web.api.runs import the_run
from app.web.api.wire import Who, Wire, stated
from app.web.deps import TheSession

router = api_router("runs")

RunVerb = Literal["pause", "resume", "stop"]
Reason = Annotated[str, stated(maxLength=LONGEST_REASON)]


class Wish(Wire):
    reason: Reason = ""
    by: Who = "api"

    @property
    def signature(self) -> str:
        return signed(self.by)


class Asked(Wire):
    run: str
    asked: RunVerb
    state: str


_PROBLEMS = documented("not-found", "run-ended", "too-large", "wrong-content-type")
TheWish = Annotated[Wish | None, Body()]


@router.post("/runs/{run}/pause", status_code=202, responses=_PROBLEMS)
@operators
def pause_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """Pause a run after the turn in progress. Its budgets do not run meanwhile. A queued run can only be stopped."""
    return _asked(session, run, "pause", wish)


@router.post("/runs/{run}/resume", status_code=202, responses=_PROBLEMS)
@operators
def resume_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """Resume a paused run."""
    return _asked(session, run, "resume", wish)


@router.post("/runs/{run}/stop", status_code=202, responses=_PROBLEMS)
@operators
def stop_run(run: str, session: TheSession, wish: TheWish = None) -> Asked:
    """Stop a run. The turn ends at once, and a change in progress is undone."""
    return _asked(session, run, "stop", wish)


def _asked(session: Session, run: str, verb: RunVerb, wish: Wish | None) -> Asked:
    row, wish = the_run(session, run), wish or Wish()
    command(session, row, verb, by=wish.signature, reason=wish.reason)
    return Asked(run=run, asked=verb, state=row.state)
