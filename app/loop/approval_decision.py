"""Decides how many people must approve a change and which approvals count. Pure; every interface uses it."""

from collections.abc import Sequence

from app.events.approvals import IDENTIFIED_VIA, ApprovalPolicy, ChangeRisk, PeopleNeeded
from app.events.kinds import ApprovalGiven
from app.events.vocabulary import Mode

NO_FILE = "Temper's own rule"


def decide_people_needed(policy: ApprovalPolicy | None, mode: Mode, risk: ChangeRisk) -> PeopleNeeded:
    """Apply the policy file. Review mode, irreversible changes and vendor scripts need at least one person."""
    asked = _apply_policy(policy, risk) if policy else None
    if asked and asked.people:
        return asked
    sha256 = policy.sha256 if policy else ""
    if mode == "review":
        return PeopleNeeded(people=1, why="each change is asked about", by="mode review", sha256=sha256, risk=risk)
    if risk.irreversible:
        return PeopleNeeded(people=1, why="cannot be undone", by=NO_FILE, sha256=sha256, risk=risk)
    if risk.vendor:
        return PeopleNeeded(people=1, why="a vendor's script", by=NO_FILE, sha256=sha256, risk=risk)
    return asked or PeopleNeeded(people=0, why=f"mode {mode}", by=NO_FILE, risk=risk)


def _apply_policy(policy: ApprovalPolicy, risk: ChangeRisk) -> PeopleNeeded:
    for rule in policy.rules:
        if rule.matches_all_conditions(risk):
            by = f"{policy.file} line {rule.line}"
            return PeopleNeeded(
                people=rule.people, why=rule.explain_match(risk), by=by, sha256=policy.sha256, risk=risk
            )
    by = f"{policy.file} line {policy.line}"
    return PeopleNeeded(people=policy.otherwise, why="no other rule fits", by=by, sha256=policy.sha256, risk=risk)


def explain_objection(of: int, given: Sequence[str], by: str, via: str, reason: str) -> str:
    """Return why this approval does not count, or an empty string. `given`: the earlier approvers."""
    if of < 2:
        return ""
    if via not in IDENTIFIED_VIA:
        return "this change needs two people, and here nobody has said who they are: sign in, or bring a token."
    if has_approved(by, given):
        return f"{by} has said yes already: it waits for another person."
    if not reason.strip():
        return "say why: of two people each gives a reason."
    return ""


def has_approved(by: str, given: Sequence[str]) -> bool:
    """Return whether this person has approved already. Names ignore case; sessions and tokens do not matter."""
    return by.casefold() in {one.casefold() for one in given}


def list_approvers(given: Sequence[ApprovalGiven]) -> tuple[str, ...]:
    return tuple(one.by for one in given)
