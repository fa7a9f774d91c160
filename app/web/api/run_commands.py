"""Pause, resume and stop runs. The run's worker obeys within a fraction of a second."""

from typing import Annotated, Literal

from fastapi import Body
from sqlmodel import Session

from app.people.rights import get_name_to_record, operators
from app.runs.commands_to_runs import LONGEST_REASON, command_run
from app.web.api.api_model import ApiModel, Who, declare_field_with_unchecked_bounds
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, build_problem_responses
from app.web.api.runs import require_run_row
from app.web.deps import TheSession

router = api_router("runs")

RunVerb = Literal["pause", "resume", "stop"]
Reason = Annotated[str, declare_field_with_unchecked_bounds(maxLength=LONGEST_REASON)]


class CommandRequest(ApiModel):
    reason: Reason = ""
    by: Who = "api"

    @property
    def signed_in_or_given_name(self) -> str:
        return get_name_to_record(self.by)


class CommandAccepted(ApiModel):
    run: str
    asked: RunVerb
    state: str


_PROBLEMS = build_problem_responses("not-found", "run-ended", *BODY_PROBLEMS)
TheCommandRequest = Annotated[CommandRequest | None, Body()]


@router.post("/runs/{run}/pause", status_code=202, responses=_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def pause_run(run: str, session: TheSession, wish: TheCommandRequest = None) -> CommandAccepted:
    """Pause a run after the turn in progress. Its budgets do not run meanwhile. A queued run can only be stopped."""
    return _submit_command(session, run, "pause", wish)


@router.post("/runs/{run}/resume", status_code=202, responses=_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def resume_run(run: str, session: TheSession, wish: TheCommandRequest = None) -> CommandAccepted:
    """Resume a paused run."""
    return _submit_command(session, run, "resume", wish)


@router.post("/runs/{run}/stop", status_code=202, responses=_PROBLEMS)
@operators
@declare_example({"reason": "maintenance", "by": "ops"})
def stop_run(run: str, session: TheSession, wish: TheCommandRequest = None) -> CommandAccepted:
    """Stop a run. The turn ends at once, and a change in progress is undone."""
    return _submit_command(session, run, "stop", wish)


def _submit_command(
    session: Session, run: str, verb: RunVerb, command_request: CommandRequest | None
) -> CommandAccepted:
    row, given = require_run_row(session, run), command_request or CommandRequest()
    command_run(session, row, verb, by=given.signed_in_or_given_name, reason=given.reason)
    return CommandAccepted(run=run, asked=verb, state=row.state)
