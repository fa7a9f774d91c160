"""Reboots the host at the end of a run, waits for it, and takes the run's changes back if it is not well."""

import asyncio
import hashlib
import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TypeVar

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable, TemperError, find_storage_fault
from app.events import kinds
from app.events.event_field_types import NO_FINDING, Probe
from app.loop import effects, running_settings_check
from app.loop.change_execution import redact_for_log, redact_probes
from app.loop.harm_seen_by_probes import find_first_harm_after_reboot
from app.loop.reboot_decisions import describe_harm_after_reboot, list_fix_journals, list_fixed_rules
from app.loop.required_approvals import decide_people_for_reboot
from app.loop.run_in_progress import Run
from app.targets.probe_comparison import mark_worsened_probes
from app.targets.rebooter_protocol import BootStatus, Rebooter
from app.targets.running_settings_report import InForceReport
from app.targets.target import Target
from app.text.pluralized_counts import count_things

EMULATED_FACTOR = 3
"""A machine in software emulation gets so many times as long."""
FIRST_PAUSE, LONGEST_PAUSE = 0.25, 4.0
"""Seconds between two looks at a host that is away."""
ORDER_AGAIN_SECONDS = 60.0
"""After so long Temper repeats its order to a host that shows no sign of a reboot."""
SETTLE_SECONDS = 30.0
"""So long a host may start its services, and a probe may fail, before that counts."""
_LONGEST = 400

T = TypeVar("T")


def require_rebooter(target: Target) -> Rebooter:
    if target.rebooter is None:
        raise EnvironmentUnusable(f"{target.name} does not boot, so it cannot be rebooted.")
    return target.rebooter


async def ask_for_reboot(run: Run, _: effects.AskForReboot) -> None:
    host, rules = run.services.target.name, list_fixed_rules(run.state)
    fixes = count_things(len(rules), "fix", "fixes")
    asked = f"Reboot {host} now, and check {fixes} afterwards: {', '.join(rules)}"
    started = run.state.started
    run.append(
        kinds.ApprovalRequested(
            approval=f"{run.state.run}.reboot.0.{run.state.seq + 1}",
            rule="",
            attempt=0,
            binds=hashlib.sha256(b"\0".join([host.encode(), b"reboot", asked.encode()])).hexdigest(),
            expires=run.services.clock() + run.state.budget.approval_seconds,
            diff=asked,
            needs=decide_people_for_reboot(started.approvals if started else None),
            about="reboot",
        )
    )


async def skip_reboot(run: Run, effect: effects.SkipReboot) -> None:
    await forget_committed_pre_images(run)
    run.append(kinds.RebootSkipped(host=run.services.target.name, reason=effect.reason))


async def forget_committed_pre_images(run: Run) -> None:
    """Delete the pre-images that were kept so that the run's changes can be rolled back after its reboot."""
    if run.request.reboot and list_fixed_rules(run.state):
        await _call_rebooter(run, lambda rebooter: rebooter.forget_committed_pre_images())


async def record_reboot_announcement(run: Run, _: effects.Reboot) -> None:
    def require_approval_and_read_boot_status_and_snapshot(rebooter: Rebooter) -> tuple[BootStatus, bool, str, bool]:
        if not (rebooter.is_disposable or run.state.reboot.is_approved):
            raise EnvironmentUnusable(f"{run.services.target.name} is not rebooted, because nobody approved it.")
        return (
            rebooter.read_boot_status(),
            rebooter.has_emulated_processor,
            rebooter.snapshot_name,
            rebooter.can_undo_alone,
        )

    found, emulated, snapshot, can_undo_alone = await _call_rebooter(
        run, require_approval_and_read_boot_status_and_snapshot
    )
    if not found.boot:
        raise ConnectionLost(f"{run.services.target.name} is not rebooted while it does not answer: {found.reason}")
    seconds = run.state.budget.reboot_seconds * (EMULATED_FACTOR if emulated else 1)
    run.append(
        kinds.RebootAnnounced(
            host=run.services.target.name,
            boot=found.boot,
            until=run.services.clock() + seconds,
            rules=list_fixed_rules(run.state),
            journals=list_fix_journals(run.state),
            emulated=emulated,
            snapshot=snapshot,
            undo_seconds=max(1, int(seconds / 2)) if can_undo_alone else 0,
        )
    )
    await run.log.flush()


async def order_and_await_reboot(run: Run, _: effects.AwaitReboot) -> None:
    """Tell the host to reboot if it has not, then look until it is back or its time is over.

    Each look is short, so that a server that stops need not wait for the host: the next one goes on from the log.
    """
    announced, clock, ordered, pause, reason = _get_announced(run), run.services.clock, -math.inf, FIRST_PAUSE, ""
    while True:
        found = await _call_rebooter(run, lambda rebooter: rebooter.read_boot_status())
        is_over = clock() >= announced.until
        if found.boot not in ("", announced.boot):
            reason = await _record_return_or_explain_wait(run, found)
            if not reason:
                return None
        elif found.boot and found.phase != "stopping" and (is_over or clock() - ordered >= ORDER_AGAIN_SECONDS):
            if is_over:
                return await _disarm_guard_and_skip_reboot(run, "it did not shut down in time")
            ordered = clock()
            try:
                await _arm_guard_and_order_reboot(run)
            except ActionFailed as exc:
                return await _disarm_guard_and_skip_reboot(run, str(exc).rstrip("."))
            except ConnectionLost:
                ordered = -math.inf  # the host was not told
        if is_over:
            return await _record_loss(run, found.reason or reason or "it shows no sign of a reboot")
        await asyncio.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE)


async def _arm_guard_and_order_reboot(run: Run) -> None:
    announced = _get_announced(run)

    def order_reboot_on_target(target: Target) -> None:
        rebooter = require_rebooter(target)
        rebooter.prepare(_name_guard(run), announced.undo_seconds, announced.journals)
        rebooter.order()

    await run.services.target.run_blocking(order_reboot_on_target)


async def _disarm_guard_and_skip_reboot(run: Run, reason: str) -> None:
    """Record that the host goes on as it is: it did not reboot."""
    await _call_rebooter(run, lambda rebooter: rebooter.confirm(_name_guard(run)))
    await skip_reboot(run, effects.SkipReboot(redact_for_log(reason, _LONGEST)))


async def _record_return_or_explain_wait(run: Run, boot_status: BootStatus) -> str:
    """Record that the host is back, once it has started and settled; return why that needs more time, or "".

    That the changes stay is confirmed on the host first and recorded second: repeating it after a crash is harmless.
    """
    announced, now = _get_announced(run), run.services.clock()
    run.boot_seen_at = run.boot_seen_at or now
    patience = SETTLE_SECONDS * (EMULATED_FACTOR if announced.emulated else 1)
    is_settled = now - run.boot_seen_at >= patience or now >= announced.until
    if boot_status.phase == "starting" and not is_settled:
        return "it does not get through its start"
    before = run.state.started.probes if run.state.started else ()

    def read_health_whether_undone_and_settings(target: Target) -> tuple[tuple[Probe, ...], bool, InForceReport]:
        return (
            target.check_health(),
            require_rebooter(target).has_undone_any(announced.journals),
            target.check_in_force(),
        )

    try:
        probes, undone, standing = await run.services.target.run_blocking(read_health_whether_undone_and_settings)
        harm = None if undone else find_first_harm_after_reboot(before, probes)
        if harm and not is_settled:
            return harm
        if not (harm or undone):
            await _call_rebooter(run, lambda rebooter: rebooter.confirm(_name_guard(run)))
    except EnvironmentUnusable as exc:
        return str(exc)
    if not (harm or undone):
        # The changes are confirmed, so nothing is rolled back from here on. The next run deletes what is left.
        with suppress(EnvironmentUnusable, ActionFailed):
            await forget_committed_pre_images(run)
    run.append(
        kinds.RebootReturned(
            host=announced.host,
            boot=boot_status.boot,
            seconds=round(run.services.clock() - run.state.reboot.announced_at, 1),
            probes=redact_probes(mark_worsened_probes(before, probes)),
            undone=undone,
        ),
        *running_settings_check.build_in_force_events(standing),
    )
    return ""


async def _record_loss(run: Run, reason: str) -> None:
    announced = _get_announced(run)
    console = await _call_rebooter(run, lambda rebooter: rebooter.read_console())
    run.append(
        kinds.RebootLost(
            host=announced.host,
            seconds=round(run.services.clock() - run.state.reboot.announced_at, 1),
            reason=redact_for_log(reason.rstrip("."), _LONGEST),
            console=tuple(redact_for_log(one, _LONGEST) for one in console),
        )
    )


async def undo_run_changes_and_record_reboot_undone(run: Run, _: effects.UndoRun) -> None:
    """Put the machine back to its snapshot if it is lost, then roll this run's changes back, the newest first."""
    announced, before = _get_announced(run), run.state.started.probes if run.state.started else ()
    snapshot = announced.snapshot if run.state.reboot.lost else ""

    def undo_changes_and_return_paths_and_differences(
        target: Target,
    ) -> tuple[Sequence[str], Sequence[str], tuple[Probe, ...], float]:
        rebooter = require_rebooter(target)
        if snapshot:
            rebooter.restore_snapshot()
        rebooter.confirm(_name_guard(run))
        undone = rebooter.undo(announced.journals)
        return undone.paths, undone.differences, target.check_health(), undone.seconds

    try:
        paths, differences, probes, seconds = await run.services.target.run_blocking(
            undo_changes_and_return_paths_and_differences
        )
    except TemperError as exc:
        if find_storage_fault(exc) or isinstance(exc, ConnectionLost):
            raise
        paths, differences, probes, seconds = (), (str(exc),), (), 0.0
    run.append(
        kinds.RebootUndone(
            host=announced.host,
            snapshot=snapshot,
            rules=announced.rules,
            paths=tuple(paths),
            differences=tuple(redact_for_log(one, _LONGEST) for one in differences),
            probes=redact_probes(mark_worsened_probes(before, probes)),
            seconds=round(seconds, 2),
        )
    )


async def compare_fixes_after_reboot(run: Run, _: effects.CompareReboot) -> None:
    state, announced = run.state, _get_announced(run)
    is_bad = bool(describe_harm_after_reboot(state))
    words = {rule: verdict.word for rule, verdict in state.closing.items()}
    lost = tuple(rule for rule in announced.rules if is_bad or words.get(rule) not in NO_FINDING)
    passed = (rule for rule, verdict in state.opening.items() if verdict.word == "pass")
    run.append(
        kinds.RebootCompared(
            host=announced.host,
            held=tuple(rule for rule in announced.rules if rule not in lost),
            lost=lost,
            slipped=tuple(rule for rule in passed if words.get(rule) not in NO_FINDING),
        )
    )


async def escalate_lost_fix(run: Run, effect: effects.ReopenItem) -> None:
    attempt = run.state.items[effect.rule].attempt
    replayed = attempt.replayed_fix_id if attempt else ""
    reason = redact_for_log(effect.reason, 2 * _LONGEST)
    run.append(kinds.ItemEscalated(rule=effect.rule, reason=reason, reopened=True, replayed=replayed))


async def _call_rebooter(run: Run, work: Callable[[Rebooter], T]) -> T:
    return await run.services.target.run_blocking(lambda target: work(require_rebooter(target)))


def _get_announced(run: Run) -> kinds.RebootAnnounced:
    assert run.state.reboot.announced
    return run.state.reboot.announced


def _name_guard(run: Run) -> str:
    return f"reboot-{run.state.run}"
