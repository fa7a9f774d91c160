"""Changes that wait for a person's approval."""

from typing import Annotated, Any

import msgspec
from fastapi import Path
from pydantic import Field

from app.events.event_field_types import Word
from app.events.kinds import ApprovalRequested, ApprovalSubject, RunQueued
from app.loop.attempt_state import Attempt
from app.loop.reboot_state import RebootProgress
from app.loop.run_skill_loader import load_skill_with_run_parameters
from app.loop.state import RunState
from app.people.rights import (
    get_callers_sign_in_method,
    get_name_to_record,
    get_token_id,
    list_others_who_made_current_token,
    operators,
    viewers,
)
from app.runs.approval_answer import DECISIONS, AnswerMeans, record_answer
from app.store import run_queries
from app.web.api.api_model import ApiModel, Raw, Time, Who, declare_field_with_unchecked_bounds, format_time
from app.web.api.api_route import create_router as api_router
from app.web.api.openapi_examples import declare_example
from app.web.api.problem import BODY_PROBLEMS, Problem, build_problem_responses
from app.web.api.run_commands import Reason
from app.web.deps import TheFolds, TheSession

router = api_router("approvals")


class Foreseen(ApiModel):
    """The scanner's verdict on a copy of the host with the change applied."""

    word: Word
    evidence: str
    scanner: str


class GivenApproval(ApiModel):
    by: str
    reason: str
    token: str = Field(default="", description="Id of the API token that was used; empty if none was.")
    made_by: list[str] = Field(
        default=[], description="Who made the token for somebody else; the approval counts for them, too."
    )


class ApprovalView(ApiModel):
    id: str
    about: ApprovalSubject = Field(
        default="change", description="`reboot` for the reboot at the end of a run: it has no rule, plan and actions."
    )
    run: str
    host: str
    rule: str
    title: str
    attempt: int
    approach: str
    steps: list[str]
    risk: str
    rollback: str
    breaks: str = Field(description="What hardening this rule is known to break; empty if nothing is known.")
    irreversible: bool
    warnings: list[str] = Field(
        default=[], description="What outlasts a rollback, and files that Temper does not judge."
    )
    proposed_by: str = Field(description="`worker`, or the person who edited the change.")
    actions: list[Raw] = Field(description="The actions, in the form that `edit` accepts.")
    diff: str = Field(
        description="The change, on the host as it was when the approval was requested; for a reboot, what it is for."
    )
    predicted: Foreseen | None
    binds: str = Field(description="sha256 over host, plan and diff. An approval applies to exactly these.")
    asked_at: str
    expires: Time
    simulated: bool
    people: int = Field(default=1, description="Number of people who must approve: 1, or 2 different people.")
    needs: str = Field(default="", description="Why this many people are needed, with the file and rule that say so.")
    given: list[GivenApproval] = Field(default=[], description="People who have approved so far.")


class ApprovalList(ApiModel):
    approvals: list[ApprovalView]


Decision = Annotated[str, declare_field_with_unchecked_bounds(enum=list(DECISIONS))]


class Answer(ApiModel):
    decision: Decision
    reason: Reason = ""
    actions: Annotated[list[Raw], declare_field_with_unchecked_bounds(maxItems=12)] = Field(
        default=[],
        description="For `edit`: the actions to take instead. Temper judges and rehearses them, then asks "
        "for approval again.",
    )
    by: Who = "api"


class Answered(ApiModel):
    id: str
    run: str
    decision: Decision
    people: int = Field(default=1, description="Number of people who must approve.")
    given: int = Field(default=0, description="Number of people who have approved, this answer included.")
    waits: str = Field(
        default="", description="`1 of 2: waits for another person`; empty if no further approval is needed."
    )


@router.get("/approvals", responses=build_problem_responses())
@viewers
def list_approvals(session: TheSession, folds: TheFolds) -> ApprovalList:
    """List the changes that wait for approval."""
    runs = [row for row in run_queries.list_unended_runs(session) if row.state != "queued"]
    waiting = [_find_approval_view(folds.read_current(row.id), simulated=row.simulated) for row in runs]
    return ApprovalList(approvals=[one for one in waiting if one])


@router.post(
    "/approvals/{approval}",
    status_code=202,
    responses=build_problem_responses("not-found", "not-waiting", "wrong-state", *BODY_PROBLEMS),
)
@operators
@declare_example({"decision": "approve", "reason": "Reviewed with the owner of the host."})
def answer_approval(
    approval: Annotated[str, Path(max_length=100)], given: Answer, session: TheSession, folds: TheFolds
) -> Answered:
    """Approve, refuse or edit a change; the first answer counts. A change that needs two people takes a yes from each,
    by their own session or token and with a reason; one refusal is enough. Before applying it, the run checks that
    the host has not changed since."""
    run = approval.partition(".")[0]
    if run_queries.find_run(session, run) is None:
        said = f"There is no approval {approval[:60]!a}: GET /api/v1/approvals lists the open ones."
        raise Problem("not-found", said, field="approval")
    actions = msgspec.json.encode(given.actions).decode() if given.actions or given.decision == "edit" else ""
    by = get_name_to_record(given.by)
    asked, decision = folds.read_current(run), given.decision
    means = AnswerMeans(get_callers_sign_in_method(), get_token_id(), list_others_who_made_current_token())
    far = record_answer(
        session, asked, approval, decision, by=by, sign_in_means=means, reason=given.reason, actions=actions
    )
    waits = far.remaining_text if decision == "approve" else ""
    return Answered(id=approval, run=run, decision=decision, people=far.of, given=far.given, waits=waits)


def _find_approval_view(state: RunState, *, simulated: bool) -> ApprovalView | None:
    attempt = state.subject_awaiting_approval
    if state.ended or attempt is None or attempt.approval is None:
        return None
    assert state.request
    own = (
        _build_view_fields_of_reboot_approval(state.request, attempt.approval)
        if isinstance(attempt, RebootProgress)
        else _build_change_fields(state, attempt)
    )
    return ApprovalView.from_source(
        attempt.approval,
        id=attempt.approval.approval,
        run=state.run,
        host=state.request.host,
        asked_at=format_time(state.idle_since) or "",
        simulated=simulated,
        people=attempt.people_required,
        given=attempt.given,
        **own,
    )


def _build_change_fields(state: RunState, attempt: Attempt) -> dict[str, Any]:
    assert attempt.approval
    rule, plan, proposed = (
        load_skill_with_run_parameters(state).rules[attempt.approval.rule],
        attempt.plan,
        attempt.proposed,
    )
    assert plan
    assert proposed
    return {
        "title": rule.title,
        "approach": plan.approach,
        "steps": plan.steps,
        "risk": plan.risk,
        "rollback": plan.rollback,
        "breaks": rule.breaks,
        "irreversible": rule.irreversible or attempt.is_irreversible,
        "warnings": attempt.warnings,
        "proposed_by": proposed.by or "worker",
        "actions": msgspec.to_builtins(proposed.actions),
        "diff": attempt.approval.diff or proposed.diff,
        "predicted": attempt.rehearsed,
        "needs": attempt.needs.summary if attempt.needs else "",
    }


def _build_view_fields_of_reboot_approval(
    run_request: RunQueued, approval_request: ApprovalRequested
) -> dict[str, Any]:
    return {
        "title": f"Reboot {run_request.host}",
        "approach": approval_request.diff,
        "steps": [],
        "risk": "Everybody on the host is interrupted, and it may not come back.",
        "rollback": "Changes that do not survive the reboot are rolled back.",
        "breaks": "",
        "irreversible": False,
        "proposed_by": run_request.by,
        "actions": [],
        "predicted": None,
        "needs": approval_request.needs.summary if approval_request.needs else "",
    }
