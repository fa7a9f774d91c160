"""Changes that wait for a person."""

from typing import Annotated, Literal

from fastapi import Path
from pydantic import Field
from sqlmodel import Session

from app.api.commands import ask
from app.api.items import folded
from app.api.problem import Problem, documented
from app.api.route import router as api_router
from app.api.wire import Line, Who, Wire, when
from app.deps import TheSession, TheWorker
from app.loop.state import RunState
from app.store import queries
from app.worker import Worker

router = api_router("approvals")


class ApprovalView(Wire):
    id: str
    run: str
    host: str
    rule: str
    attempt: int
    approach: str
    diff: str
    binds: str = Field(description="sha256 over host, plan and diff: approved is this and nothing else.")
    asked_at: str
    expires: str
    simulated: bool


class ApprovalList(Wire):
    approvals: list[ApprovalView]


class Answer(Wire):
    decision: Literal["approve", "refuse"]
    reason: Line = ""
    by: Who = "api"


class Answered(Wire):
    id: str
    run: str
    decision: Literal["approve", "refuse"]


@router.get("/approvals", responses=documented())
def list_approvals(session: TheSession, worker: TheWorker) -> ApprovalList:
    runs = [row.id for row in queries.unended(session) if row.state != "queued"]
    waiting = [_waiting(worker, run) for run in runs]
    return ApprovalList(approvals=[one for one in waiting if one])


@router.post(
    "/approvals/{approval}",
    status_code=202,
    responses=documented("not-found", "not-waiting", "too-large", "wrong-content-type"),
)
def answer_approval(
    approval: Annotated[str, Path(max_length=100)], answer: Answer, session: TheSession, worker: TheWorker
) -> Answered:
    """Approve or refuse. The worker of the run takes it up and checks that the host is still what was looked at."""
    run = approval.partition(".")[0]
    if queries.run(session, run) is None:
        said = f"There is no approval {approval[:60]!a}: GET /api/v1/approvals lists the open ones."
        raise Problem("not-found", said, field="approval")
    waiting = _waiting(worker, run)
    if waiting is None or waiting.id != approval:
        raise Problem("not-waiting", f"Approval {approval[:60]!a} is not waiting for an answer.", field="approval")
    if answer.decision == "refuse" and not answer.reason:
        raise Problem("invalid", "Say why: the Architect learns from it.", field="reason")
    _put(session, run, answer, approval)
    return Answered(id=approval, run=run, decision=answer.decision)


def _put(session: Session, run: str, answer: Answer, approval: str) -> None:
    ask(session, run, answer.decision, answer.by, answer.reason, approval)


def _waiting(worker: Worker, run: str) -> ApprovalView | None:
    state, simulated = folded(worker, run)
    return None if state.ended else _view(state, simulated=simulated)


def _view(state: RunState, *, simulated: bool) -> ApprovalView | None:
    attempt = state.item.attempt if state.item else None
    if attempt is None or attempt.approval is None or not attempt.awaits_person:
        return None
    assert state.request
    return ApprovalView(
        id=attempt.approval.approval,
        run=state.run,
        host=state.request.host,
        rule=attempt.approval.rule,
        attempt=attempt.number,
        approach=attempt.plan.approach if attempt.plan else "",
        diff=attempt.proposed.diff if attempt.proposed else "",
        binds=attempt.approval.binds,
        asked_at=when(state.idle_since) or "",
        expires=when(attempt.approval.expires) or "",
        simulated=simulated,
    )
