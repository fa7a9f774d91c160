"""Compares settings with what is in force: at the start of a run, after a change and after a reboot."""

import asyncio

import msgspec

from app.events.event_field_types import PendingSetting
from app.events.kinds import InForceChecked, RebootChecked
from app.loop.harm_seen_by_probes import find_first_harm_after_reboot
from app.loop.run_in_progress import Run
from app.loop.state import RunState
from app.store.prior_knowledge import PreviousState
from app.targets.running_settings_report import InForceReport
from app.text.clean import clean_text
from app.text.redaction import redact_secrets


def build_in_force_events(report: InForceReport, rule: str = "", attempt: int = 0) -> list[InForceChecked]:
    """Return the event of a check; none if no program answered, except for the boot id at the start."""
    if not report.checked_programs and (rule or not report.boot):
        return []
    behind = tuple(_redact_setting(one) for one in report.pending_settings)
    return [InForceChecked(rule=rule, attempt=attempt, boot=report.boot, asked=report.checked_programs, behind=behind)]


def _redact_setting(setting: PendingSetting) -> PendingSetting:
    secret = {name: redact_secrets(getattr(setting, name)) for name in ("setting", "wanted", "running")}
    return msgspec.structs.replace(setting, **secret)


async def append_reboot_check_against_last_run(run: Run) -> None:
    left = await asyncio.to_thread(run.services.history.read_previous_state)
    standing = await run.services.target.run_blocking(lambda target: target.check_in_force())
    run.append(compare_rules_with_last_run_after_reboot(run.state, left, standing))


def compare_rules_with_last_run_after_reboot(
    state: RunState, previous: PreviousState, report: InForceReport
) -> RebootChecked:
    holds = {rule for rule, verdict in state.opening.items() if verdict.word == "pass"}
    fails = {rule for rule, verdict in state.opening.items() if verdict.word == "fail"}
    still = {(one.program, one.setting) for one in report.pending_settings}
    waiting = {rule for rule, one in previous.behind if (one.program, one.setting) in still}
    waited = {rule for rule, _ in previous.behind} - waiting
    late = {rule for rule in previous.passed - previous.held if rule in holds}
    probes = state.started.probes if state.started else ()
    return RebootChecked(
        of=previous.run,
        boot_before=previous.boot,
        boot_now=report.boot,
        rebooted=bool(previous.boot and report.boot and previous.boot != report.boot),
        slipped=tuple(sorted(previous.held & fails)),
        arrived=tuple(sorted((waited & holds) | late)),
        waiting=tuple(sorted(waiting)),
        behind=tuple(_redact_setting(one) for one in report.pending_settings),
        worse=clean_text(redact_secrets(find_first_harm_after_reboot(previous.probes, probes) or ""), 400)
        if previous.run
        else "",
    )
