"""Decides how many people must approve a change and which approvals count. Pure; every interface uses it."""

from collections.abc import Collection, Sequence

from app.events.approval_policy import IDENTIFIED_VIA, UNKNOWN_MAKER, ApprovalPolicy, Approver, ChangeRisk, PeopleNeeded
from app.events.event_field_types import Mode
from app.events.kinds import ActionProposed, ApprovalGiven, RunQueued

NO_FILE = "Temper's own rule"
REBOOT_RISK = ChangeRisk(category="I", breaks=("boot",), cuts_the_line=True, irreversible=False, replayed=False)
"""A policy's rule about changes that could break the boot also counts for a reboot."""


def decide_people_needed(policy: ApprovalPolicy | None, mode: Mode, risk: ChangeRisk) -> PeopleNeeded:
    """Apply the policy file. Review mode, irreversible changes and vendor scripts need at least one person."""
    asked = _apply_first_matching_policy_rule(policy, risk) if policy else None
    if asked and asked.people:
        return asked
    sha256 = policy.sha256 if policy else ""
    if mode == "review":
        return PeopleNeeded(people=1, why="every change needs approval", by="mode review", sha256=sha256, risk=risk)
    if risk.irreversible:
        return PeopleNeeded(people=1, why="cannot be undone", by=NO_FILE, sha256=sha256, risk=risk)
    if risk.vendor:
        return PeopleNeeded(people=1, why="a vendor's script", by=NO_FILE, sha256=sha256, risk=risk)
    return asked or PeopleNeeded(people=0, why=f"mode {mode}", by=NO_FILE, risk=risk)


def _apply_first_matching_policy_rule(policy: ApprovalPolicy, risk: ChangeRisk) -> PeopleNeeded:
    for rule in policy.rules:
        if rule.matches_all_conditions(risk):
            by = f"{policy.file} line {rule.line}"
            return PeopleNeeded(
                people=rule.people, why=rule.explain_match(risk), by=by, sha256=policy.sha256, risk=risk
            )
    by = f"{policy.file} line {policy.line}"
    return PeopleNeeded(people=policy.otherwise, why="no other rule fits", by=by, sha256=policy.sha256, risk=risk)


def decide_people_for_reboot(policy: ApprovalPolicy | None) -> PeopleNeeded:
    """Apply the policy file to the reboot of a host that somebody may depend on. It needs at least one person."""
    asked = _apply_first_matching_policy_rule(policy, REBOOT_RISK) if policy else None
    if asked and asked.people:
        return asked
    sha256 = policy.sha256 if policy else ""
    return PeopleNeeded(people=1, why="the host is not disposable", by=NO_FILE, sha256=sha256, risk=REBOOT_RISK)


def explain_uncounted_approval(
    people_needed: int, earlier_approvers: Sequence[Approver], approver: Approver, reason: str, askers: Collection[str]
) -> str:
    """Return why this approval does not count, or an empty string. `earlier_approvers` approved before.

    `askers`: the people who ordered the run or edited the change. A token that somebody else made counts for its owner
    and for its makers: each of them could have given this approval."""
    if lent := approver.other_token_makers & {one.casefold() for one in askers}:
        name = approver.name
        return f"{min(lent)} asked for this and made this token of {name}: {name} signs in to approve it."
    if people_needed < 2:
        return ""
    if approver.via not in IDENTIFIED_VIA:
        return "this change needs two people, and here nobody has said who they are: sign in, or bring a token."
    if UNKNOWN_MAKER in approver.made_by:
        return "this token is older than the record of who made it: sign in, or bring a new token."
    if any(approver.name.casefold() == one.name.casefold() for one in earlier_approvers):
        return f"{approver.name} has said yes already: it waits for another person."
    if both := next((approver.people & one.people for one in earlier_approvers if approver.people & one.people), None):
        return f"a token counts for its maker too, and {min(both)} has said yes already: it waits for another person."
    if not reason.strip():
        return "say why: of two people each gives a reason."
    return ""


def list_approver_of_each_approval(approvals: Sequence[ApprovalGiven]) -> tuple[Approver, ...]:
    return tuple(one.approver for one in approvals)


def list_askers(request: RunQueued | None, proposed: ActionProposed | None) -> tuple[str, ...]:
    """Return the people who asked for a change: who ordered the run, for whom, and who edited the actions."""
    asked = (request.by, request.whose) if request else ()
    return tuple(one for one in (*asked, proposed.by if proposed else "") if one)


def count_people(approvers: Sequence[Approver]) -> int:
    """Return the number of distinct people; an approval by token also counts as its makers'."""
    counted: list[frozenset[str]] = []
    for one in approvers:
        if not any(one.people & other for other in counted):
            counted.append(one.people)
    return len(counted)
