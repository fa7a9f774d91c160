"""Everything that waits for a person, as one list: what it is about, why, how risky, and how to answer. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from zlib import crc32

from app.events.approval_policy import Approver
from app.events.event_field_types import Category
from app.events.kinds import ApprovalRequested, RunQueued
from app.events.record import Recorded
from app.events.waiver_in_force import Waiver
from app.loop.attempt_state import Attempt
from app.loop.inbox import find_open_approval_id
from app.loop.reboot_state import RebootProgress
from app.loop.required_approvals import explain_uncounted_approval, list_approver_of_each_approval, list_askers
from app.loop.state import RunState
from app.people.rights import Person, has_right
from app.skills.skill import Rule
from app.store.models import RunRow
from app.store.rollouts import RolloutRow
from app.store.waivers import WaiverDue, WaiverRow, list_waivers_ending_soon_or_recently_ended
from app.text.pluralized_counts import count_things

DecisionKind = Literal["approval", "escalated", "deferred", "rollout", "waiver", "host", "run"]
Risk = Literal["high", "medium", "low"]
NeedsReason = Literal["no", "optional", "required"]

WAIVER_DAYS = 14
"""Days before its end from which a waiver waits for a decision."""
SOON, DAY = 3600.0, 24 * 3600.0
GROUPS = ("Expire within the hour", "Today", "Older")
_RISKS: Mapping[str, Risk] = {"I": "high", "II": "medium", "III": "low"}
_ORDER: tuple[Risk, ...] = ("high", "medium", "low")


@dataclass(frozen=True)
class PossibleAnswer:
    verb: str
    words: str
    """Of its button: verb and object."""
    tone: Literal["go", "stop", "plain"]
    reason: NeedsReason = "optional"


@dataclass(frozen=True)
class LeftFinding:
    """A finding that a run escalated or deferred."""

    outcome: Literal["escalated", "deferred"]
    host: str
    skill: str
    rule: str
    run: str
    at: float
    reason: str
    title: str = ""
    category: Category | Literal[""] = ""
    breaks: str = ""
    simulated: bool = False


@dataclass(frozen=True, kw_only=True)
class OpenDecision:
    kind: DecisionKind
    id: str
    title: str
    why: str
    """One sentence: what waits, and why a person must answer."""
    since: float
    risk: Risk
    host: str = ""
    rule: str = ""
    run: str = ""
    """The run that asks, or the newest one that the decision is about."""
    rollout: str = ""
    waiver: str = ""
    skill: str = ""
    mode: str = ""
    simulated: bool = False
    expires: float | None = None
    """Time after which nobody can answer any more."""
    breaks: str = ""
    """What the change is known to break; empty if nothing is known."""
    diff: str = ""
    findings: tuple[LeftFinding, ...] = ()
    answers: tuple[PossibleAnswer, ...] = ()
    attempt: Attempt | None = None
    """For an approval, the attempt whose change is asked about."""
    reboot: RebootProgress | None = None
    """For the approval of a reboot."""
    askers: tuple[str, ...] = ()
    """For an approval, the people who asked for the change."""

    @property
    def version(self) -> str:
        """Differs if anything differs that a person is shown."""
        asking = self.attempt or self.reboot
        given = len(asking.given) if asking else 0
        return f"{crc32(repr((self.why, self.diff, self.findings, self.answers, given)).encode()):08x}"

    def get_group(self, now: float) -> str:
        if self.expires is not None and self.expires - now < SOON:
            return GROUPS[0]
        return GROUPS[1] if now - self.since < DAY else GROUPS[2]


@dataclass(frozen=True)
class InboxSources:
    """The inputs of list_decisions at one moment."""

    now: float
    asking: Sequence[tuple[RunState, Rule | None]] = ()
    """Runs with an approval request, each with the rule of the change."""
    findings: Sequence[LeftFinding] = ()
    in_work: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Of each host with runs that have not ended, the rules of these runs: what was left of them is in hand."""
    waivers: Sequence[WaiverRow] = ()
    groups: Mapping[str, Sequence[str]] = field(default_factory=dict)
    rollouts: Sequence[RolloutRow] = ()
    paused_rollouts: Mapping[str, Recorded] = field(default_factory=dict)
    """The event that paused each rollout."""
    failed: Sequence[RunRow] = ()
    """The newest run of each host whose newest run failed."""
    paused: Sequence[RunRow] = ()
    paused_runs: Mapping[str, Recorded] = field(default_factory=dict)


def list_decisions(sources: InboxSources) -> list[OpenDecision]:
    """Return what waits for a person: what expires first, then the newest day, in each by risk and then by age."""
    found = [
        *_iterate_approvals(sources),
        *_iterate_findings_decisions_by_host_and_skill(sources),
        *_iterate_paused_rollout_decisions(sources),
        *_iterate_failed_run_decisions(sources),
        *_iterate_paused_run_decisions(sources),
        *map(
            _to_waiver_decision, list_waivers_ending_soon_or_recently_ended(sources.waivers, sources.now, WAIVER_DAYS)
        ),
    ]
    return sorted(
        found, key=lambda one: (GROUPS.index(one.get_group(sources.now)), _ORDER.index(one.risk), one.since, one.id)
    )


def explain_denial(decision: OpenDecision, verb: str, person: Person | None) -> str:
    """Return why this person cannot give this answer, or an empty string."""
    if person is None or not has_right(person.right, "operator"):
        return "Your right is viewer: an operator answers this."
    if verb == "approve" and (asking := decision.attempt or decision.reboot):
        by = Approver(name=person.name, via=person.via, made_by=person.made_by)
        given = list_approver_of_each_approval(asking.given)
        wrong = explain_uncounted_approval(asking.people_required, given, by, "any reason", decision.askers)
        return f"{wrong[:1].upper()}{wrong[1:]}"
    return ""


def _iterate_approvals(sources: InboxSources) -> Iterator[OpenDecision]:
    for state, rule in sources.asking:
        asking = state.subject_awaiting_approval
        if not state.request or not asking or not asking.approval or not find_open_approval_id(state, sources.now):
            continue
        if isinstance(asking, RebootProgress):
            yield _to_reboot_approval_or_common_part(state, state.request, asking, asking.approval)
        else:
            yield _to_change_approval(state, state.request, asking, asking.approval, rule)


def _to_reboot_approval_or_common_part(
    state: RunState, request: RunQueued, awaiting_subject: Attempt | RebootProgress, approval_request: ApprovalRequested
) -> OpenDecision:
    """Return the approval of a reboot, or what it has in common with that of a change."""
    given = awaiting_subject.given
    needs: NeedsReason = "required" if awaiting_subject.people_required > 1 else "optional"
    yes = f" {given[0].approver_text} approved it; a second person must approve it, too." if given else ""
    reboot = awaiting_subject if isinstance(awaiting_subject, RebootProgress) else None
    what = "reboot" if reboot else "change"
    about = f". {approval_request.diff}" if reboot else f" of {approval_request.rule}"
    return OpenDecision(
        kind="approval",
        id=f"approval:{approval_request.approval}",
        title=f"Reboot {request.host}",
        why=f"Run {state.run} waits for your approval{about}.{yes}",
        since=state.idle_since or state.at,
        risk="high",
        host=request.host,
        run=state.run,
        skill=request.skill,
        mode=request.mode,
        simulated=request.simulated,
        expires=approval_request.expires,
        breaks="Everybody on the host is interrupted, and it may not come back.",
        answers=(
            PossibleAnswer("approve", f"Approve {what}", "go", needs),
            PossibleAnswer("refuse", f"Refuse {what}", "stop", "required"),
        ),
        reboot=reboot,
        askers=list_askers(request, None),
    )


def _to_change_approval(
    state: RunState, request: RunQueued, attempt: Attempt, approval_request: ApprovalRequested, rule: Rule | None
) -> OpenDecision:
    found = _to_reboot_approval_or_common_part(state, request, attempt, approval_request)
    return replace(
        found,
        title=rule.title if rule else approval_request.rule,
        risk=_rate_change_risk(attempt, rule),
        rule=approval_request.rule,
        breaks=rule.breaks if rule else "",
        diff=approval_request.diff or (attempt.proposed.diff if attempt.proposed else ""),
        answers=(*found.answers, PossibleAnswer("edit", "Propose these actions", "plain")),
        attempt=attempt,
        askers=list_askers(request, attempt.proposed),
    )


def _rate_change_risk(attempt: Attempt, rule: Rule | None) -> Risk:
    """Rate a change by what it could cut off, not only by its rule's category."""
    risk = attempt.needs.risk if attempt.needs else None
    final = attempt.is_irreversible or bool(rule and rule.irreversible)
    if attempt.people_required > 1 or final or (risk and (risk.cuts_the_line or risk.vendor)):
        return "high"
    return _RISKS[rule.category] if rule else "medium"


def _iterate_findings_decisions_by_host_and_skill(sources: InboxSources) -> Iterator[OpenDecision]:
    """Yield one decision for each host, skill and outcome, without findings that a waiver covers."""
    in_force = [row.waiver for row in sources.waivers if row.is_in_force(sources.now)]
    groups = {
        host: frozenset(name for name, hosts in sources.groups.items() if host in hosts)
        for host in {one.host for one in sources.findings}
    }
    together: dict[tuple[str, str, str], list[LeftFinding]] = {}
    for one in sources.findings:
        if one.rule not in sources.in_work.get(one.host, ()) and not _is_waived(one, in_force, groups[one.host]):
            together.setdefault((one.outcome, one.host, one.skill), []).append(one)
    for found in together.values():
        yield _to_decision_on_findings_of_one_host(found)


def _is_waived(finding: LeftFinding, active_waivers: Sequence[Waiver], groups: frozenset[str]) -> bool:
    return any(one.rule == finding.rule and one.scope.covers_host(finding.host, groups) for one in active_waivers)


def _to_decision_on_findings_of_one_host(findings_of_one_host: Sequence[LeftFinding]) -> OpenDecision:
    first, newest = findings_of_one_host[0], max(findings_of_one_host, key=lambda one: one.at)
    counted = count_things(len(findings_of_one_host), "finding")
    them = "it" if len(findings_of_one_host) == 1 else "them"
    why = (
        f"{first.host}: {counted} escalated, because no attempt passed. Decide what to do."
        if first.outcome == "escalated"
        else f"{first.host}: {counted} deferred. Run {them} again, or add a waiver."
    )
    return OpenDecision(
        kind=first.outcome,
        id=f"{first.outcome}:{first.host}:{first.skill}",
        title=(first.title or first.rule) if len(findings_of_one_host) == 1 else f"{counted} {first.outcome}",
        why=why,
        since=min(one.at for one in findings_of_one_host),
        risk=min((_RISKS.get(one.category, "medium") for one in findings_of_one_host), key=_ORDER.index),
        host=first.host,
        rule=first.rule if len(findings_of_one_host) == 1 else "",
        run=newest.run,
        skill=first.skill,
        mode="review",
        simulated=newest.simulated,
        breaks=first.breaks if len(findings_of_one_host) == 1 else "",
        findings=tuple(sorted(findings_of_one_host, key=lambda one: (one.category or "IV", one.rule))),
        answers=(PossibleAnswer("review", "Run again, ask before each change", "go", "no"),),
    )


def _iterate_paused_rollout_decisions(sources: InboxSources) -> Iterator[OpenDecision]:
    for row in sources.rollouts:
        if row.state == "paused":
            paused = sources.paused_rollouts.get(row.id)
            by_rule = paused is None or getattr(paused.event, "by", "") == "rule"
            yield OpenDecision(
                kind="rollout",
                id=f"rollout:{row.id}",
                title=f"Rollout {row.id} is paused",
                why=f"Rollout {row.id} is paused{f': {row.reason}' if row.reason else '.'}",
                since=paused.at if paused else row.asked_at,
                risk="high" if by_rule else "medium",
                rollout=row.id,
                skill=row.skill,
                mode=row.mode,
                simulated=row.simulated,
                answers=(
                    PossibleAnswer("resume", "Resume rollout", "go"),
                    PossibleAnswer("stop", "End rollout", "stop"),
                ),
            )


def _iterate_failed_run_decisions(sources: InboxSources) -> Iterator[OpenDecision]:
    for run in sources.failed:
        if run.host not in sources.in_work:
            yield OpenDecision(
                kind="host",
                id=f"host:{run.id}",
                title=f"The last run on {run.host} failed",
                why=f"{run.host}: the last run failed: {run.reason or 'its log names no reason'}",
                since=run.ended_at or run.queued_at,
                risk="high" if run.regressed else "medium",
                host=run.host,
                run=run.id,
                skill=run.skill,
                mode=run.mode,
                simulated=run.simulated,
                answers=(PossibleAnswer("again", "Run again", "go", "no"),),
            )


def _iterate_paused_run_decisions(sources: InboxSources) -> Iterator[OpenDecision]:
    """Yield paused runs, without those that a paused rollout holds: its answer is theirs."""
    held = {f"rollout {row.id}" for row in sources.rollouts if row.state == "paused"}
    for run in sources.paused:
        paused = sources.paused_runs.get(run.id)
        by = getattr(paused.event, "by", "") if paused else ""
        if by not in held:
            yield OpenDecision(
                kind="run",
                id=f"run:{run.id}",
                title=f"Run {run.id} is paused",
                why=f"Run {run.id} on {run.host} is paused{f' by {by}' if by else ''}: it goes on when you resume it.",
                since=paused.at if paused else run.queued_at,
                risk="low",
                host=run.host,
                run=run.id,
                skill=run.skill,
                mode=run.mode,
                simulated=run.simulated,
                answers=(PossibleAnswer("resume", "Resume run", "go"), PossibleAnswer("stop", "Stop run", "stop")),
            )


def _to_waiver_decision(due: WaiverDue) -> OpenDecision:
    row, over = due.row, due.kind == "waiver.ended"
    return OpenDecision(
        kind="waiver",
        id=f"waiver:{row.id}",
        title=f"Waiver of {row.rule} {'ended' if over else 'ends'} on {row.until}",
        why=due.summary,
        since=due.since,
        risk="medium" if over else "low",
        host=row.scope_name if row.scope_kind == "host" else "",
        rule=row.rule,
        waiver=row.id,
        answers=() if over else (PossibleAnswer("end", "End waiver now", "stop", "required"),),
    )
