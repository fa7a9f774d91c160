"""Performs effects. An effect on the host is recorded on disk before it starts, and closed afterwards."""

import asyncio
import re
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from graphlib import TopologicalSorter
from typing import Any, TypeVar

from app import __version__
from app.candidates.gather import (
    gather_candidates,
    has_usable_or_impossible,
    judge_candidates,
    try_scripts_and_append_judged_candidates,
)
from app.errors import EnvironmentUnusable, TemperError, is_storage_or_host_connection_fault
from app.events import kinds
from app.events.event_field_types import NO_FINDING, Candidate, Lesson, Phase, Probe, ProvenFix
from app.loop import change_execution, effects, proven_fix, reboot, role_turns, running_settings_check
from app.loop.effects import Effect
from app.loop.escalated_finding_label import describe_escalated_question
from app.loop.run_in_progress import Run
from app.loop.state import RunState
from app.scanners.scanner import Verdict
from app.skills.benchmark_for_skill import choose_benchmark_with_skill_ids, match_waivers_to_skill
from app.skills.skill import Rule, Skill, hash_rulebook
from app.targets.running_settings_report import InForceReport
from app.targets.target import Target

T = TypeVar("T")

_BRINGS = re.compile(r"(?:.*_)?package_.+_installed")
_TITLE_BRINGS = re.compile(r"(?!.*\bmust not\b).*\bpackages?\b.*\binstalled\b.*")
"""ComplianceAsCode's rule ids and DISA's titles; their rules state no dependencies."""
_RECORDS_FILES = re.compile(r"(?:.*_)?aide_build_database")


def sort_findings_dependencies_first(findings: Sequence[str], skill: Skill) -> tuple[str, ...]:
    among = set(findings)
    sorter = TopologicalSorter({rule: among.intersection(skill.rules[rule].depends) for rule in findings})
    sorter.prepare()
    place = {rule: index for index, rule in enumerate(findings)}
    taken: list[str] = []
    ready: set[str] = set(sorter.get_ready())
    while ready:
        first = min(ready, key=lambda name: _rank_finding(skill.rules[name], place[name]))
        ready.remove(first)
        taken.append(first)
        sorter.done(first)
        ready.update(sorter.get_ready())
    return tuple(taken)


def _rank_finding(rule: Rule, original_index: int) -> tuple[bool, bool, bool, int]:
    """Return what findings are sorted by.

    Rules about a package's files and units need the package first. A database of all files comes after every other
    change, or it would report them.
    """
    brings = _BRINGS.fullmatch(rule.id) or _TITLE_BRINGS.fullmatch(rule.title)
    return rule.irreversible, bool(_RECORDS_FILES.fullmatch(rule.id)), not brings, original_index


LESSONS_TOLD = 4
PROGRESS_SECONDS = 1.0
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 15.0
"""Seconds between looks whether a fault is over."""


async def perform_effect(run: Run, effect: Effect) -> None:
    await _PERFORMERS[type(effect)](run, effect)


async def _start_run(run: Run, _: effects.Start) -> None:
    target, request = run.services.target, run.request
    changes = request.mode not in ("scan", "dry-run")

    def prepare_target_and_read_state_and_disposability(
        target: Target,
    ) -> tuple[str, tuple[Probe, ...], InForceReport, bool]:
        target.prepare(changes=changes, consent=request.consent, keep=request.keep)
        disposable = request.reboot and reboot.require_rebooter(target).is_disposable
        return target.confinement, target.check_health(), target.check_in_force(), disposable

    def announce() -> None:
        if run.state.status == "queued":
            run.append(kinds.RunPreparing(worker=run.services.worker))

    confinement, probes, standing, disposable = await _await_with_ticks(
        target.run_blocking(prepare_target_and_read_state_and_disposability), announce
    )
    named = await asyncio.to_thread(choose_benchmark_with_skill_ids, run.services.skill)
    waivers = await asyncio.to_thread(run.services.history.list_active_waivers, request.host, run.services.clock())
    run.append(
        kinds.RunStarted(
            worker=run.services.worker,
            confinement=confinement,
            scanner=run.services.scanner.name,
            probes=change_execution.redact_probes(probes),
            temper=__version__,
            seats=() if run.state.has_no_model else tuple(seat.to_seat_taken() for seat in run.services.seats.values()),
            simulated=target.simulated,
            rulebook=hash_rulebook(run.services.skill),
            published=named,
            waivers=match_waivers_to_skill(waivers, run.services.skill, named),
            tailored=run.services.skill.tailored,
            parameters=run.services.skill.used,
            approvals=run.services.approvals,
            key=run.services.key,
            disposable=disposable,
        ),
        *running_settings_check.build_in_force_events(standing),
    )


async def _scan_host(run: Run, effect: effects.Scan) -> None:
    rules = run.request.rules
    run.append(kinds.ScanStarted(phase=effect.phase, rules=len(rules)))
    began = time.monotonic()
    verdicts = await _scan_rules(run, effect.phase)
    given = [change_execution.build_verdict_event(run, verdict, effect.phase) for verdict in verdicts]
    run.append(*given, kinds.ScanFinished(phase=effect.phase, seconds=round(time.monotonic() - began, 3)))
    reasons = {(verdict.word, verdict.evidence) for verdict in verdicts}
    if effect.phase == "opening" and len(reasons) == 1 and verdicts[0].word == "error":
        raise EnvironmentUnusable(
            f"The scanner could judge no rule, so the run changed nothing: {verdicts[0].evidence}"
        )


async def _scan_rules(run: Run, phase: Phase) -> list[Verdict]:
    """Scan the rules of the run, and append how far that is once a second."""
    rules, judged, noted = run.request.rules, [0], 0
    files = await run.services.target.run_blocking(lambda target: target.files)

    def append_progress() -> None:
        nonlocal noted
        if judged[-1] != noted:
            noted = judged[-1]
            run.append(kinds.ScanProgressed(phase=phase, judged=noted, rules=len(rules)))

    return await _await_with_ticks(run.services.scanner.scan(files, rules, judged.append), append_progress)


async def _await_with_ticks(work: Coroutine[Any, Any, T], tick: Callable[[], None]) -> T:
    """Return what `work` returns; call `tick` once a second until then. If cancelled, wait until `work` has ended."""
    doing = asyncio.create_task(work)
    try:
        while not (await asyncio.wait([doing], timeout=PROGRESS_SECONDS))[0]:
            tick()
        return await doing
    finally:
        doing.cancel()
        await asyncio.wait([doing])


async def _record_scope_from_opening_scan(run: Run, _: effects.Scope) -> None:
    words = {rule: verdict.word for rule, verdict in run.state.opening.items()}
    findings = [rule for rule, word in words.items() if word == "fail"]
    run.append(
        *await _build_drift_events(run, findings),
        kinds.RunScoped(
            order=sort_findings_dependencies_first(findings, run.services.skill),
            compliant=tuple(rule for rule, word in words.items() if word == "pass"),
            undecided=tuple(rule for rule, word in words.items() if word not in ("pass", "fail")),
        ),
    )


async def _build_drift_events(run: Run, findings: Sequence[str]) -> list[kinds.DriftFound]:
    """Return drift since the last run; a freshly reset simulated host has none."""
    if run.services.target.simulated and not run.request.keep:
        return []
    since, held = await asyncio.to_thread(run.services.history.read_last_run_and_passed_rules)
    slipped = tuple(rule for rule in findings if rule in held)
    return [kinds.DriftFound(rules=slipped, since=since)] if slipped else []


async def _start_item(run: Run, effect: effects.StartItem) -> None:
    rule = run.services.skill.rules[effect.rule]
    run.append(kinds.ItemStarted(rule=rule.id, title=rule.title, category=rule.category))


async def _start_attempt(run: Run, effect: effects.StartAttempt) -> None:
    known = await asyncio.to_thread(run.services.history.list_known_lessons, effect.rule)
    seen, offered = await _hash_files_and_find_fix(run, effect)
    run.append(
        *await _gather_candidates_as_events(run, effect),
        kinds.AttemptStarted(
            rule=effect.rule,
            attempt=effect.number,
            lessons=_merge_lessons(run.item.lessons, known),
            seen=seen,
            offered=offered,
            vendor=effect.vendor,
            why_roles_stopped=effect.why_roles_stopped,
        ),
    )


async def _gather_candidates_as_events(run: Run, effect: effects.StartAttempt) -> list[kinds.CandidatesGathered]:
    """Return what recipes and the content propose, judged on this host.

    They are gathered once, before the first attempt on a rule. The content's scripts follow when nothing else is left:
    to try one on a copy takes seconds.
    """
    item = run.item
    known = item.candidates
    if effect.vendor or (effect.number != 1 and not item.has_only_content_script_trial_left):
        return []
    verdict = item.rechecked or run.state.opening.get(run.rule.id)
    asks, scope, rule, services = run.build_change((), None).asks, run.rule_scope, run.rule, run.services

    def gather_candidates_on_target(target: Target) -> tuple[Candidate, ...]:
        with target.cache_reads():
            broken_at, evidence = ((verdict.path or ""), verdict.evidence) if verdict else ("", "")
            if effect.number == 1:
                found = gather_candidates(services.skill, rule, target.files, broken_at, services.recipes, evidence)
                judged = judge_candidates(found, target, asks, scope)
                if has_usable_or_impossible(judged):
                    return judged
            else:
                judged = known
            return try_scripts_and_append_judged_candidates(services.skill, rule, target, asks, scope, judged)

    candidates = await services.target.run_blocking(gather_candidates_on_target)
    return [kinds.CandidatesGathered(rule=rule.id, candidates=candidates)] if candidates != known else []


async def _hash_files_and_find_fix(run: Run, effect: effects.StartAttempt) -> tuple[str, ProvenFix | None]:
    """Return the digest of the rule's files and, on the first attempt, a fix proven on equal files."""
    started, target = run.state.started, run.services.target
    assert started
    seen = await target.run_blocking(
        lambda target: proven_fix.compute_deciding_files_digest(run.rule, target.files, started.rulebook)
    )
    if not (seen and run.request.replay_fixes and effect.number == 1):
        return seen, None
    known = await asyncio.to_thread(
        run.services.history.list_fixes_proven_elsewhere, effect.rule, seen, is_host_simulated=target.simulated
    )
    if not known:
        return seen, None
    return seen, await target.run_blocking(lambda target: proven_fix.find_fix_for_identical_files(target.files, known))


def _merge_lessons(own: Sequence[Lesson], known: Sequence[Lesson]) -> tuple[Lesson, ...]:
    """Merge this run's lessons, newest first, with earlier runs', each once."""
    merged = {lesson.id: lesson for lesson in (*reversed(own), *known)}
    return tuple(merged.values())[:LESSONS_TOLD]


async def _close_crashed_turn(run: Run, effect: effects.CloseCrashedTurn) -> None:
    reason = "the server was killed in mid-turn; the turn is asked again"
    run.append(kinds.TurnInterrupted(turn=effect.turn, reason=reason))


async def _record_failed_attempt(run: Run, effect: effects.FailAttempt) -> None:
    cause, reason, replayed = effect.cause, effect.reason, run.attempt.replayed_fix_id
    run.append(kinds.AttemptFailed(**run.current_attempt_event_fields, cause=cause, reason=reason, replayed=replayed))


async def _close_item(run: Run, effect: effects.CloseItem) -> None:
    rule, reason = effect.rule, effect.reason
    match effect.outcome:
        case "passed" if run.state.attempt:
            run.append(*await change_execution.commit_and_build_pass_events(run))
        case "passed":
            run.append(kinds.ItemPassed(rule=rule, attempts=0))
        case "escalated":
            question = describe_escalated_question(run.item)
            run.append(kinds.ItemEscalated(rule=rule, reason=reason, question=question))
        case "skipped":
            run.append(kinds.ItemSkipped(rule=rule, reason=reason, waiver=effect.waiver))
        case "deferred":
            run.append(kinds.ItemDeferred(rule=rule, reason=reason))


async def _wait_for_person(run: Run, effect: effects.Wait) -> None:
    left = None if effect.until is None else max(0.0, effect.until - run.services.clock())
    try:
        async with asyncio.timeout(left):
            await run.nudged.wait()
    except TimeoutError:
        return
    run.nudged.clear()


async def _wait_out_fault(run: Run, _: effects.WaitOut) -> None:
    """Wait until what failed works again. One that seems to and fails again is tried more and more seldom."""
    began, waiting = time.monotonic(), run.state.waiting
    assert waiting
    while True:
        await asyncio.sleep(compute_pause(run.waits.values()))
        if await _is_fault_over(run, waiting):
            break
    run.append(kinds.RunWaitEnded(seconds=round(time.monotonic() - began, 1)))


def compute_pause(fault_counts: Iterable[int]) -> float:
    """Return the seconds before the next look at what failed, given how often effects met a fault in a row."""
    times = min(max(fault_counts, default=0), 16)  # after hours of faults the power would not fit into a float
    return min(LONGEST_PAUSE, FIRST_PAUSE * (1 << times))


async def _is_fault_over(run: Run, waiting: kinds.RunWaiting) -> bool:
    if waiting.cause == "engine":
        seats = [seat for seat in run.services.seats.values() if seat.engine == waiting.engine]
        return not seats or any([await replica.is_ready(seats[0].model) for replica in seats[0].replicas])
    try:
        await run.services.target.run_blocking(lambda target: target.assert_usable())
    except (TemperError, OSError) as exc:
        return not is_storage_or_host_connection_fault(exc)
    return True


async def _record_run_finished_with_counts(run: Run, _: effects.Finish) -> None:
    state = run.state
    if run.request.after_reboot:
        await running_settings_check.append_reboot_check_against_last_run(run)
    count = dict.fromkeys(("passed", "escalated", "skipped", "deferred", "waived"), 0)
    for item in state.items.values():
        count[item.status] += 1
    tree = await run.services.target.run_blocking(lambda target: target.compute_digest())
    run.append(kinds.RunFinished(**count, regressions=find_rules_passed_then_failing_at_end(state), tree=tree))


def find_rules_passed_then_failing_at_end(state: RunState) -> tuple[str, ...]:
    """Return rules that passed before or during the run and fail at its end."""
    held = {rule for rule, verdict in state.opening.items() if verdict.word == "pass"}
    held |= {item.rule for item in state.items.values() if item.status == "passed"}
    return tuple(rule for rule, verdict in state.closing.items() if rule in held and verdict.word not in NO_FINDING)


async def _stop_run(run: Run, _: effects.Stop) -> None:
    assert run.state.stopping
    await reboot.forget_committed_pre_images(run)
    tree = await run.services.target.run_blocking(lambda target: target.compute_digest())
    run.append(kinds.RunStopped(by=run.state.stopping.by, reason=run.state.stopping.reason, tree=tree))


async def _halt_run(run: Run, effect: effects.Halt) -> None:
    run.append(kinds.RunFailed(reason=effect.reason))


_PERFORMERS: dict[type, Callable[[Run, Any], Awaitable[None]]] = {
    effects.Start: _start_run,
    effects.Scan: _scan_host,
    effects.Scope: _record_scope_from_opening_scan,
    effects.StartItem: _start_item,
    effects.Recheck: change_execution.recheck_rule,
    effects.StartAttempt: _start_attempt,
    effects.Ask: role_turns.ask_role,
    effects.Propose: role_turns.propose_edit_of_person,
    effects.Repeat: role_turns.propose_proven_fix,
    effects.TakeVendors: role_turns.propose_vendor_script,
    effects.TakeCandidate: role_turns.propose_candidate,
    effects.UseSafeDefault: role_turns.continue_without_answer,
    effects.CloseCrashedTurn: _close_crashed_turn,
    effects.Judge: change_execution.judge_proposal,
    effects.Rehearse: change_execution.scan_copy_with_change_and_record_verdict,
    effects.RequestApproval: change_execution.request_approval,
    effects.ExpireApproval: change_execution.expire_approval,
    effects.Wait: _wait_for_person,
    effects.WaitOut: _wait_out_fault,
    effects.Apply: change_execution.apply_change,
    effects.Verify: change_execution.scan_rule_after_change,
    effects.Watch: change_execution.probe_changed_host,
    effects.FailAttempt: _record_failed_attempt,
    effects.GatherFacts: change_execution.record_failed_probes_and_scanner_verdict,
    effects.RollBack: change_execution.roll_back,
    effects.CloseItem: _close_item,
    effects.AskForReboot: reboot.ask_for_reboot,
    effects.SkipReboot: reboot.skip_reboot,
    effects.Reboot: reboot.record_reboot_announcement,
    effects.AwaitReboot: reboot.order_and_await_reboot,
    effects.UndoRun: reboot.undo_run_changes_and_record_reboot_undone,
    effects.CompareReboot: reboot.compare_fixes_after_reboot,
    effects.ReopenItem: reboot.escalate_lost_fix,
    effects.Finish: _record_run_finished_with_counts,
    effects.Stop: _stop_run,
    effects.Halt: _halt_run,
}
