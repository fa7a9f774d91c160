"""`temper score … --host NAME`: score on a disposable Debian, reset for each trial and scanned by OpenSCAP."""

import asyncio
from contextlib import AsyncExitStack
from functools import partial

from app.cli import debian_demo, lineup_score
from app.cli.runtime_opening import open_runtime
from app.config import Settings
from app.errors import BadInput
from app.lineups.model import Lineup
from app.runs.order import select_rules
from app.scores.openscap_playbook import BASE, run_ansible_fixes_between_scans
from app.scores.score_structures import ScoreOrder
from app.scores.trial_plan_and_journal import TrialJournal
from app.scores.trial_runner import run_added_host_trial_on_new_machine
from app.scores.vendor_fixes import (
    VendorOutcome,
    run_bash_fixes_between_scans,
    run_no_fixes_between_scans,
    run_vendor_trial_on_new_machine,
)
from app.targets.host_registry import open_target
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.target import Target

ANSIBLE, WHOLE = "ansible", "all"
_DATASTREAM = f"/{debian_demo.DATASTREAM}"


def score_debian(settings: Settings, options: lineup_score.ScoreOptions, machine_name: str) -> int:
    """Run all trials and return the exit code. The machine lies in the data folder of `settings`."""
    if options.held_back or options.hosts != 1:
        raise BadInput(
            "hosts are generated only from the built-in host: leave out --hosts and --held-back with --host."
        )
    own = lineup_score.build_score_settings(settings, options.lineup)
    own, options = lineup_score.prepare_lineup_for_scored_address(own, options)
    machine = Rootfs(settings.data / "rootfs", machine_name)
    base = BASE if options.lineup == ANSIBLE else BaseImage()
    debian_demo.ensure_machine_built(machine, "a Debian 12", partial(machine.build, base))
    debian_demo.add_datastream_to_local_content_if_missing(machine.base_folder / debian_demo.DATASTREAM)
    subject = lineup_score.choose_score_subject(own, options)
    lineup = subject.lineup
    rules = debian_demo.keep_rules_of_demo_profile()
    if options.rules:
        rules = select_rules(options.rules.removeprefix(WHOLE), debian_demo.SKILL)
    order = ScoreOrder(
        label=subject.label,
        kind=subject.kind,
        skill=debian_demo.SKILL,
        rules=rules,
        seeds=options.seeds,
        hosts=1,
        host=machine_name,
        together=True,
    )
    notes = TrialJournal(options.out.with_suffix(".part"), order)
    try:
        asyncio.run(_run_remaining_trials(own, lineup, order, notes, machine, options))
    finally:
        machine.stop()
    return lineup_score.finish_and_print_score(own, order, lineup, notes, options)


async def _run_remaining_trials(
    settings: Settings,
    lineup: Lineup | None,
    order: ScoreOrder,
    journal: TrialJournal,
    machine: Rootfs,
    options: lineup_score.ScoreOptions,
) -> None:
    left = [seed for seed in range(1, order.seeds + 1) if (seed, order.host, order.rules) not in journal.done]
    async with AsyncExitStack() as stack:
        runtime = None
        if lineup:
            await lineup_score.fail_interrupted_score_runs(settings)
            runtime = await stack.enter_async_context(open_runtime(settings, lineup))
            await lineup_score.wait_until_engines_loaded(runtime)
        for seed in left:
            target = _reset_and_open_target(settings, machine)
            try:
                if runtime:
                    trial = await run_added_host_trial_on_new_machine(
                        runtime, order, seed, target, machine, options.budget
                    )
                else:
                    fix = partial(_apply_vendor_fix, machine, options.lineup, order)
                    trial = await run_vendor_trial_on_new_machine(order, seed, machine, target, fix)
            finally:
                await asyncio.to_thread(target.close)
            journal.add(trial)
            lineup_score.print_trial(seed, order.seeds, trial)


async def _apply_vendor_fix(machine: Rootfs, tool: str, order: ScoreOrder, rule_arguments: str) -> VendorOutcome:
    profile = f"xccdf_org.ssgproject.content_profile_{debian_demo.SKILL.rpartition(':')[2]}"
    if tool == ANSIBLE:
        return await run_ansible_fixes_between_scans(
            machine.get_access(), rule_arguments, order.rules, _DATASTREAM, profile
        )
    run_fixes = run_no_fixes_between_scans if tool == lineup_score.NOTHING else run_bash_fixes_between_scans
    return await run_fixes(machine.get_access(), rule_arguments, _DATASTREAM, profile)


def _reset_and_open_target(settings: Settings, machine: Rootfs) -> Target:
    machine.reset()
    debian_demo.register_machine(settings, machine, machine.start())
    return open_target(machine.name, settings.hosts_folder)
