"""The steps of an attempt that touch the host: judge, approve, apply, verify, watch, roll back, keep."""

import hashlib
from collections.abc import Sequence

import msgspec

from app.errors import ActionFailed, TemperError
from app.events.approvals import PeopleNeeded
from app.events.kinds import (
    ActionApplied,
    ActionApplying,
    ActionFailedToApply,
    ActionProposed,
    ActionRefused,
    ActionRolledBack,
    ActionRollingBack,
    ActionsAllowed,
    ApprovalExpired,
    ApprovalRequested,
    Event,
    FactsGathered,
    FixProven,
    ItemPassed,
    Rehearsed,
    SentryProbed,
    VerdictGiven,
)
from app.events.words import Phase, Probe, RunVendorScript
from app.loop import force
from app.loop.approving import needed
from app.loop.attempt import Attempt
from app.loop.effects import (
    Apply,
    ExpireApproval,
    GatherFacts,
    Judge,
    Rehearse,
    RequestApproval,
    RollBack,
    Verify,
    Watch,
)
from app.loop.harm import blameless
from app.loop.replaying import proven
from app.loop.risk import risk_of
from app.loop.run import Run
from app.scanners.verdict import Verdict
from app.targets.resources.vendor import LONGEST, vendors
from app.targets.standing import beside
from app.text.clean import clean
from app.text.secrets import redacted

LOG_LINES = 12


def _attempt(run: Run) -> Attempt:
    assert run.state.item
    assert run.state.item.attempt
    return run.state.item.attempt


def _allowed_paths(attempt: Attempt) -> frozenset[str]:
    return frozenset(attempt.plan.paths if attempt.plan else ())


def told(text: str, limit: int) -> str:
    """Redact and clean a text of or about the host for the log."""
    return clean(redacted(text), limit)


def well(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    return tuple(msgspec.structs.replace(probe, detail=redacted(probe.detail)) for probe in probes)


def _asks(run: Run) -> frozenset[str]:
    rule, _ = run.place
    return run.means.skill.rules[rule].asks


async def judge(run: Run, _: Judge) -> None:
    rule, attempt = run.place
    proposed, item = _attempt(run).proposed, run.state.item
    assert proposed
    assert item
    if proposed.fingerprint in item.tried:
        reason = "these very actions have failed on this host before"
        run.append(ActionRefused(rule=rule, attempt=attempt, action=None, clause="banned approach", reason=reason))
        return
    if why := await _not_vendors(run, proposed):
        run.append(ActionRefused(rule=rule, attempt=attempt, action=None, clause="not understood", reason=why))
        return
    allowed, asks = _allowed_paths(_attempt(run)), _asks(run)
    refusals = await run.means.target.do(lambda target: target.review(proposed.actions, allowed, asks))
    if refusals:
        run.append(
            *(
                ActionRefused(
                    rule=rule, attempt=attempt, action=one.action, clause=one.clause, reason=redacted(one.reason)
                )
                for one in refusals
            )
        )
    else:
        run.append(ActionsAllowed(rule=rule, attempt=attempt, needs=_needs(run, proposed)))


async def _not_vendors(run: Run, proposed: ActionProposed) -> str:
    """Return why a script may not be judged, or an empty string: it must be the content's own, as a last resort."""
    scripts = [one for one in proposed.actions if isinstance(one, RunVendorScript)]
    if not scripts:
        return ""
    if not _attempt(run).vendor or proposed.replayed:
        return "a vendor's script is the last resort, and never a role's to run"
    try:
        text = await run.means.scanner.remedy(run.rule.id)
    except TemperError as exc:
        return told(str(exc), 400)
    true = vendors(run.rule.stig_id, text) if 0 < len(text) <= LONGEST else None
    return "" if scripts == [true] else "it is not the script that OpenSCAP makes of the content for this rule"


def _needs(run: Run, proposed: ActionProposed) -> PeopleNeeded:
    started, request = run.state.started, run.state.request
    assert started
    assert request
    return needed(started.approvals, request.mode, risk_of(run.rule, proposed))


async def rehearse(run: Run, _: Rehearse) -> None:
    rule, attempt = run.place
    proposed = _attempt(run).proposed
    assert proposed
    try:
        files = await run.means.target.do(lambda target: target.rehearse(proposed.actions))
    except ActionFailed as exc:
        run.append(Rehearsed(rule=rule, attempt=attempt, word="error", evidence=told(str(exc), 600)))
        return
    verdict = (await run.means.scanner.foresee(files, [rule]))[0]
    scanner = run.means.scanner.name
    run.append(
        Rehearsed(rule=rule, attempt=attempt, word=verdict.word, evidence=redacted(verdict.evidence), scanner=scanner)
    )


async def request_approval(run: Run, _: RequestApproval) -> None:
    rule, attempt = run.place
    diff = await _diff_now(run)
    run.append(
        ApprovalRequested(
            approval=f"{run.state.run}.{rule}.{attempt}.{run.state.seq + 1}",
            rule=rule,
            attempt=attempt,
            binds=_binding(run, diff),
            expires=run.means.clock() + run.state.budget.approval_seconds,
            diff=diff,
            needs=_attempt(run).needs,
        )
    )


async def _diff_now(run: Run) -> str:
    proposed = _attempt(run).proposed
    assert proposed
    try:
        return (await run.means.target.do(lambda target: target.preview(proposed.actions))).diff
    except ActionFailed as exc:
        return redacted(str(exc))


def _binding(run: Run, diff: str) -> str:
    """Return the digest of host, plan and diff that an approval is bound to."""
    attempt = _attempt(run)
    assert attempt.plan
    bound = [run.means.target.name.encode(), msgspec.json.encode(attempt.plan), diff.encode()]
    return hashlib.sha256(b"\0".join(bound)).hexdigest()


async def expire_approval(run: Run, _: ExpireApproval) -> None:
    attempt = _attempt(run)
    assert attempt.approval
    reason = f"only {attempt.given[0].by} approved it in time" if attempt.given else "nobody approved it in time"
    run.append(ApprovalExpired(approval=attempt.approval.approval, reason=reason))


async def apply(run: Run, _: Apply) -> None:
    rule, number = run.place
    attempt = _attempt(run)
    assert attempt.proposed
    if attempt.approval and _binding(run, await _diff_now(run)) != attempt.approval.binds:
        reason = "the host changed since it was approved; the change is proposed again"
        run.append(ApprovalExpired(approval=attempt.approval.approval, reason=reason, drifted=True))
        return
    journal = f"{run.state.run}.{rule}.{number}.{attempt.journals + 1}"
    run.append(ActionApplying(rule=rule, attempt=number, journal=journal))
    await run.log.flush()
    actions, paths, asks = attempt.proposed.actions, _allowed_paths(attempt), _asks(run)
    try:
        done = await run.means.target.do(lambda target: target.apply(journal, actions, paths, asks))
    except ActionFailed as exc:
        run.append(ActionFailedToApply(rule=rule, attempt=number, journal=journal, reason=told(str(exc), 600)))
        return
    run.append(
        ActionApplied(
            rule=rule,
            attempt=number,
            journal=journal,
            diff=done.diff,
            changes=done.changes,
            seconds=round(done.seconds, 4),
        )
    )


async def verify(run: Run, _: Verify) -> None:
    rule, number = run.place
    files = await run.means.target.do(lambda target: target.files)
    verdict = (await run.means.scanner.scan(files, [rule]))[0]
    run.append(given(run, verdict, "attempt", number))


def given(run: Run, verdict: Verdict, phase: Phase, attempt: int = 0) -> VerdictGiven:
    return VerdictGiven(
        rule=verdict.rule,
        phase=phase,
        attempt=attempt,
        word=verdict.word,
        evidence=redacted(verdict.evidence),
        scanner=run.means.scanner.name,
        path=verdict.path,
        line=verdict.line,
    )


async def watch(run: Run, _: Watch) -> None:
    rule, number = run.place
    applied, before = _attempt(run).applied, _before(run)
    changes = applied.changes if applied else ()
    now, drift, log, standing = await run.means.target.do(
        lambda target: (target.health(), target.drift(changes), target.log_lines(LOG_LINES), target.running())
    )
    run.append(
        *force.told(standing.about(change.path for change in changes), rule, number),
        SentryProbed(
            rule=rule,
            attempt=number,
            probes=well(beside(before, now)),
            drift=tuple(map(redacted, drift)),
            log=tuple(map(redacted, log)),
            ailing=blameless(before, now),
        ),
    )


def _before(run: Run) -> tuple[Probe, ...]:
    """Return the probes from the start of the run."""
    return run.state.started.probes if run.state.started else ()


async def gather_facts(run: Run, _: GatherFacts) -> None:
    rule, number = run.place
    attempt = _attempt(run)
    probes = beside(_before(run), await run.means.target.do(lambda target: target.health()))
    facts = [f"{probe.name}: {probe.detail}" for probe in probes if not probe.ok]
    if attempt.verdict:
        facts.insert(0, f"scanner: {attempt.verdict.word}: {attempt.verdict.evidence}")
    run.append(FactsGathered(rule=rule, attempt=number, facts=tuple(told(fact, 400) for fact in facts)))


async def roll_back(run: Run, effect: RollBack) -> None:
    rule, number = run.place
    run.append(ActionRollingBack(rule=rule, attempt=number, journal=effect.journal, cause=effect.cause))
    await run.log.flush()
    restored, now = await run.means.target.do(lambda target: (target.rollback(effect.journal), target.health()))
    run.append(
        ActionRolledBack(
            rule=rule,
            attempt=number,
            journal=effect.journal,
            paths=restored.paths,
            differences=tuple(map(redacted, restored.differences)),
            probes=well(beside(_before(run), now)),
            seconds=round(restored.seconds, 4),
        )
    )


async def passed(run: Run) -> Sequence[Event]:
    """Commit the change, then return its events. Committing again after a crash changes nothing."""
    attempt = _attempt(run)
    journal = attempt.journal
    assert journal
    await run.log.flush()
    await run.means.target.do(lambda target: target.commit(journal))
    told = tuple(lesson.id for lesson in attempt.lessons)
    rule, host, played = run.rule.id, run.means.target.name, run.means.target.simulated
    fix = proven(run.state.run, rule, host, attempt, played=played)
    end = ItemPassed(rule=rule, attempts=attempt.number, lessons=told, replayed=attempt.replays)
    return (FixProven(rule=rule, attempt=attempt.number, fix=fix), end) if fix else (end,)
