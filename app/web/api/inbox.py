"""The inbox: everything that waits for a person, as one list."""

import msgspec
from pydantic import Field

from app.people.rights import WHO, Person, viewers
from app.runs.open_decisions import DecisionKind, NeedsReason, OpenDecision, PossibleAnswer, Risk, explain_denial
from app.web.api.api_model import ApiModel, Raw, Time
from app.web.api.api_route import create_router as api_router
from app.web.api.problem import build_problem_responses
from app.web.deps import TheDecisions, TheSession
from app.web.url_paths import path_to

router = api_router("inbox")


class FindingView(ApiModel):
    rule: str
    title: str
    category: str = Field(description="I, II or III; empty if the rule is no longer in its skill.")
    run: str
    reason: str = Field(description="Why the run escalated or deferred it.")
    breaks: str


class AnswerView(ApiModel):
    verb: str
    words: str
    address: str = Field(description="Path to POST the answer to.")
    body: Raw = Field(description="The body, to which you can add a `reason` unless `reason` is `no`.")
    reason: NeedsReason = Field(description="Whether the body takes or needs a reason.")
    denied: str = Field(description="Why you cannot give this answer; empty if you can.")


class DecisionView(ApiModel):
    id: str
    kind: DecisionKind
    title: str
    why: str = Field(description="What waits, and why a person must answer, in one sentence.")
    risk: Risk
    since: Time
    expires: Time | None = Field(description="Time after which the request is void; None if it waits for ever.")
    host: str
    rule: str
    run: str
    rollout: str
    waiver: str
    skill: str
    simulated: bool
    breaks: str = Field(description="What the change is known to break; empty if nothing is known.")
    diff: str = Field(description="The change that waits for approval; empty for other kinds.")
    findings: list[FindingView] = Field(description="For `escalated` and `deferred`: the findings.")
    answers: list[AnswerView]


class InboxView(ApiModel):
    count: int
    decisions: list[DecisionView] = Field(
        description="What expires within the hour, then the last day, then the rest; in each by risk, then by age."
    )


@router.get("/inbox", responses=build_problem_responses())
@viewers
def list_inbox(_: TheSession, decisions: TheDecisions) -> InboxView:
    """List everything that waits for a person, with the answers that you can give."""
    found = [_to_decision_view(one, WHO.get()) for one in decisions.list_decisions()]
    return InboxView(count=len(found), decisions=found)


def _to_decision_view(decision: OpenDecision, person: Person | None) -> DecisionView:
    answers = [_to_answer_view(decision, one, person) for one in decision.answers]
    return DecisionView.from_source(decision, answers=answers)


def _to_answer_view(decision: OpenDecision, answer: PossibleAnswer, person: Person | None) -> AnswerView:
    address, body = _build_answer_request(decision, answer.verb)
    denied = explain_denial(decision, answer.verb, person)
    return AnswerView.from_source(answer, address=address, body=body, denied=denied)


def _build_answer_request(decision: OpenDecision, verb: str) -> tuple[str, Raw]:
    match decision.kind:
        case "approval":
            approval = decision.id.partition(":")[2]
            return path_to("answer_approval", approval=approval), {"decision": verb} | _build_edit_body(decision, verb)
        case "run":
            return path_to(f"{verb}_run", run=decision.run), {}
        case "rollout":
            return path_to(f"{verb}_rollout", rollout=decision.rollout), {}
        case "waiver":
            return path_to("take_waiver_back", waiver=decision.waiver), {}
        case _:
            order: Raw = {"host": decision.host, "skill": decision.skill, "mode": decision.mode}
            rules = [one.rule for one in decision.findings]
            return path_to("start_run"), order | ({"rules": rules} if rules else {})


def _build_edit_body(decision: OpenDecision, verb: str) -> Raw:
    """Return the actions as proposed, for an edit to start from."""
    proposed = decision.attempt.proposed if decision.attempt else None
    return {"actions": msgspec.to_builtins(proposed.actions)} if verb == "edit" and proposed else {}
