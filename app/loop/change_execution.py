"""The steps of an attempt that touch the host: judge, approve, apply, verify, watch, roll back, keep."""

import dataclasses
import hashlib
from collections.abc import Sequence

import msgspec

from app.errors import ActionFailed, HostDrifted, TemperError, is_storage_or_host_connection_fault
from app.events import kinds
from app.events.approval_policy import PeopleNeeded
from app.events.event_field_types import AnyAction, FileChange, Phase, Probe
from app.loop import effects, running_settings_check
from app.loop.harm_seen_by_probes import find_preexisting_failures
from app.loop.proven_fix import build_real_or_simulated_fix_if_proven
from app.loop.required_approvals import decide_people_needed
from app.loop.risk import assess_risk
from app.loop.run_in_progress import Run
from app.resources.vendor_script import LONGEST, RunVendorScript, create_vendor_action
from app.scanners.scanner import Verdict
from app.targets.change_assessment import Assessment
from app.targets.overlay import Overlay
from app.targets.probe_comparison import mark_worsened_probes
from app.targets.running_settings_report import InForceReport
from app.targets.target import Target
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

LOG_LINES = 12
EVIDENCE = 100_000
"""Characters of a scanner's evidence. Papers and the script that checks them read it alike only without controls."""


def redact_for_log(text: str, limit: int) -> str:
    """Redact and clean a text of or about the host for the log."""
    return clean_text(redact_secrets(text), limit)


def redact_probes(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    return tuple(msgspec.structs.replace(probe, detail=redact_secrets(probe.detail)) for probe in probes)


async def _get_or_make_host_assessment_of_proposal(run: Run) -> Assessment:
    """Return the assessment of the current proposal. After a crash it is made anew."""
    attempt = run.attempt
    assert attempt.proposed
    proposed = attempt.proposed
    change = run.build_change(proposed.actions, attempt.plan, by_person=bool(proposed.by and not proposed.replayed))
    return run.assessed if run.assessed and run.assessed.change == change else await run.assess_change(change)


async def judge_proposal(run: Run, _: effects.Judge) -> None:
    proposed, item, fields = run.attempt.proposed, run.item, run.current_attempt_event_fields
    assert proposed
    refused: list[tuple[AnyAction | None, str, str]]
    if proposed.fingerprint in item.tried:
        refused = [(None, "banned approach", "these very actions failed on this host before, or a person refused them")]
    elif why := await _explain_why_vendor_script_refused(run, proposed):
        refused = [(None, "not understood", why)]
    else:
        refusals = (await _get_or_make_host_assessment_of_proposal(run)).refusals
        refused = [(one.action, one.clause, redact_secrets(one.reason)) for one in refusals]
    if not refused:
        run.append(kinds.ActionsAllowed(**fields, needs=await _determine_people_needed(run, proposed)))
        return
    run.append(*(kinds.ActionRefused(**fields, action=one, clause=clause, reason=why) for one, clause, why in refused))


async def _explain_why_vendor_script_refused(run: Run, proposed: kinds.ActionProposed) -> str:
    """Return why a script may not be judged, or an empty string: it must be the content's own, as a last resort."""
    scripts = [one for one in proposed.actions if isinstance(one, RunVendorScript)]
    if not scripts:
        return ""
    if not run.attempt.vendor or proposed.replayed:
        return "a vendor's script is the last resort, and never a role's to run"
    try:
        text = await run.services.scanner.fetch_fix_script(run.rule.id)
    except TemperError as exc:
        if is_storage_or_host_connection_fault(exc):
            raise
        return redact_for_log(str(exc), 400)
    true = create_vendor_action(run.rule.stig_id, text) if 0 < len(text) <= LONGEST else None
    return "" if scripts == [true] else "it is not the script that OpenSCAP makes of the content for this rule"


async def _determine_people_needed(run: Run, proposed: kinds.ActionProposed) -> PeopleNeeded:
    started = run.state.started
    assert started
    assessed = await _get_or_make_host_assessment_of_proposal(run)
    risk = assess_risk(run.rule, proposed, assessed.plan.made, assessed.one_way)
    return decide_people_needed(started.approvals, run.request.mode, risk)


async def scan_copy_with_change_and_record_verdict(run: Run, _: effects.Rehearse) -> None:
    plan = (await _get_or_make_host_assessment_of_proposal(run)).plan
    if plan.obstacle:
        run.append(
            kinds.Rehearsed(
                **run.current_attempt_event_fields, word="error", evidence=redact_for_log(plan.obstacle, 600)
            )
        )
        return
    files = await run.services.target.run_blocking(lambda target: Overlay(target.files, plan.after))
    verdict = (await run.services.scanner.scan_rehearsal_if_supported(files, [run.rule.id]))[0]
    evidence, scanner = redact_secrets(verdict.evidence), run.services.scanner.name
    run.append(
        kinds.Rehearsed(**run.current_attempt_event_fields, word=verdict.word, evidence=evidence, scanner=scanner)
    )


async def request_approval(run: Run, _: effects.RequestApproval) -> None:
    rule, attempt = run.rule_and_attempt_number
    diff = (await _get_or_make_host_assessment_of_proposal(run)).diff_or_obstacle
    run.append(
        kinds.ApprovalRequested(
            approval=f"{run.state.run}.{rule}.{attempt}.{run.state.seq + 1}",
            **run.current_attempt_event_fields,
            binds=_compute_approval_digest(run, diff),
            expires=run.services.clock() + run.state.budget.approval_seconds,
            diff=diff,
            needs=run.attempt.needs,
        )
    )


def _compute_approval_digest(run: Run, diff: str) -> str:
    """Return the digest of host, plan and diff that an approval is bound to."""
    attempt = run.attempt
    assert attempt.plan
    bound = [run.services.target.name.encode(), msgspec.json.encode(attempt.plan), diff.encode()]
    return hashlib.sha256(b"\0".join(bound)).hexdigest()


async def expire_approval(run: Run, _: effects.ExpireApproval) -> None:
    asking = run.state.subject_awaiting_approval
    assert asking
    assert asking.approval
    reason = f"only {asking.given[0].by} approved it in time" if asking.given else "nobody approved it in time"
    run.append(kinds.ApprovalExpired(approval=asking.approval.approval, reason=reason))


async def apply_change(run: Run, _: effects.Apply) -> None:
    rule, number = run.rule_and_attempt_number
    attempt, assessed = run.attempt, await _get_or_make_host_assessment_of_proposal(run)
    if attempt.approval and _compute_approval_digest(run, assessed.diff_or_obstacle) != attempt.approval.binds:
        run.append(_build_expiry_after_drift(attempt.approval))  # assessed anew, after a crash
        return
    assessed = dataclasses.replace(assessed, approved=attempt.approval is not None)
    journal = f"{run.state.run}.{rule}.{number}.{attempt.journals + 1}"
    run.append(kinds.ActionApplying(**run.current_attempt_event_fields, journal=journal))
    await run.log.flush()
    change = assessed.change
    asked = change.actions, change.allowed_paths, change.asks, assessed, change.scope
    try:
        done = await run.services.target.run_blocking(lambda target: target.apply(journal, *asked))
    except HostDrifted:
        assert attempt.approval
        run.append(_build_expiry_after_drift(attempt.approval))
        return
    except ActionFailed as exc:
        run.append(
            kinds.ActionFailedToApply(
                **run.current_attempt_event_fields, journal=journal, reason=redact_for_log(str(exc), 600)
            )
        )
        return
    run.append(
        kinds.ActionApplied(
            **run.current_attempt_event_fields,
            journal=journal,
            diff=done.diff,
            changes=done.changes,
            seconds=round(done.seconds, 4),
        )
    )


def _build_expiry_after_drift(approval: kinds.ApprovalRequested) -> kinds.ApprovalExpired:
    reason = "the host changed since it was approved; the change is proposed again"
    return kinds.ApprovalExpired(approval=approval.approval, reason=reason, drifted=True)


async def scan_rule_after_change(run: Run, _: effects.Verify) -> None:
    rule, number = run.rule_and_attempt_number
    run.append(await _scan_rule_and_build_verdict_event(run, rule, "attempt", number))


async def recheck_rule(run: Run, _: effects.Recheck) -> None:
    run.append(await _scan_rule_and_build_verdict_event(run, run.rule.id, "recheck"))


async def _scan_rule_and_build_verdict_event(run: Run, rule: str, phase: Phase, attempt: int = 0) -> kinds.VerdictGiven:
    files = await run.services.target.run_blocking(lambda target: target.files)
    verdict = (await run.services.scanner.scan(files, [rule]))[0]
    return build_verdict_event(run, verdict, phase, attempt)


def build_verdict_event(run: Run, verdict: Verdict, phase: Phase, attempt: int = 0) -> kinds.VerdictGiven:
    return kinds.VerdictGiven(
        rule=verdict.rule,
        phase=phase,
        attempt=attempt,
        word=verdict.word,
        evidence=redact_for_log(verdict.evidence, EVIDENCE),
        scanner=run.services.scanner.name,
        path=verdict.path,
        line=verdict.line,
    )


async def probe_changed_host(run: Run, _: effects.Watch) -> None:
    applied, before = run.attempt.applied, run.state.baseline_probes
    changes = applied.changes if applied else ()
    now, drift, log, standing = await run.services.target.run_blocking(
        lambda target: look_at_changed_host(target, changes)
    )
    in_force = standing.filter_by_programs_affected_by_paths(change.path for change in changes)
    run.append(
        *running_settings_check.build_in_force_events(in_force, **run.current_attempt_event_fields),
        kinds.SentryProbed(
            **run.current_attempt_event_fields,
            probes=redact_probes(mark_worsened_probes(before, now)),
            drift=tuple(map(redact_secrets, drift)),
            log=tuple(map(redact_secrets, log)),
            ailing=find_preexisting_failures(before, now),
        ),
    )


def look_at_changed_host(
    target: Target, changes: Sequence[FileChange]
) -> tuple[tuple[Probe, ...], tuple[str, ...], list[str], InForceReport]:
    """Probe the host; its files are read once, for the probes and for what others changed."""
    with target.cache_reads():
        return (
            target.check_health(),
            target.describe_drift(changes),
            target.read_log_lines(LOG_LINES),
            target.check_in_force(),
        )


async def record_failed_probes_and_scanner_verdict(run: Run, _: effects.GatherFacts) -> None:
    attempt = run.attempt
    if attempt.probed:
        probes = attempt.probed.probes
    else:
        now = await run.services.target.run_blocking(lambda target: target.check_health())
        probes = mark_worsened_probes(run.state.baseline_probes, now)
    facts = [f"{probe.name}: {probe.detail}" for probe in probes if not probe.ok]
    if attempt.verdict:
        facts.insert(0, f"scanner: {attempt.verdict.word}: {attempt.verdict.evidence}")
    run.append(
        kinds.FactsGathered(
            **run.current_attempt_event_fields, facts=tuple(redact_for_log(fact, 400) for fact in facts)
        )
    )


async def roll_back(run: Run, effect: effects.RollBack) -> None:
    run.append(kinds.ActionRollingBack(**run.current_attempt_event_fields, journal=effect.journal, cause=effect.cause))
    await run.log.flush()
    restored, now = await run.services.target.run_blocking(
        lambda target: (target.roll_back(effect.journal), target.check_health())
    )
    run.append(
        kinds.ActionRolledBack(
            **run.current_attempt_event_fields,
            journal=effect.journal,
            paths=restored.paths,
            differences=tuple(map(redact_secrets, restored.differences)),
            probes=redact_probes(mark_worsened_probes(run.state.baseline_probes, now)),
            seconds=round(restored.seconds, 4),
        )
    )


async def commit_and_build_pass_events(run: Run) -> Sequence[kinds.Event]:
    """Commit the change, then return its events. Committing again after a crash changes nothing."""
    attempt = run.attempt
    journal = attempt.journal
    assert journal
    await run.log.flush()
    keep_images = run.request.reboot  # so that what does not survive the reboot can be rolled back
    await run.services.target.run_blocking(lambda target: target.commit(journal, keep_images=keep_images))
    told = tuple(lesson.id for lesson in attempt.lessons)
    rule, host, played = run.rule.id, run.services.target.name, run.services.target.simulated
    fix = build_real_or_simulated_fix_if_proven(run.state.run, rule, host, attempt, is_host_simulated=played)
    end = kinds.ItemPassed(rule=rule, attempts=attempt.number, lessons=told, replayed=attempt.replayed_fix_id)
    return (kinds.FixProven(rule=rule, attempt=attempt.number, fix=fix), end) if fix else (end,)
