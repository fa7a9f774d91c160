"""`temper score … --host NAME`: score on a disposable machine, reset for each trial and scanned by OpenSCAP.

It is a virtual machine if one of that name was built, and is rebooted before its closing scan; else a Debian that
shares this machine's kernel, which is built if it is missing.
"""

import asyncio
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from msgspec import UNSET

from app.cli import debian_demo, lineup_score
from app.cli.output import print_line
from app.cli.runtime_opening import open_runtime
from app.config import Settings
from app.errors import BadInput
from app.lineups.model import Lineup
from app.runs.order import select_rules
from app.scanners.openscap.scap_files import require_datastream
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
from app.scores.vendor_fixes_on_vm import FixesOnMachine, MachineJudge, run_fixes_and_reboot
from app.skills.catalog import load_skill
from app.targets.host_registry import forget_changes_undone_by_machine_reset, open_target
from app.targets.rootfs.base_image_definition import BaseImage
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.target import Target
from app.targets.vm.virtual_machine import VirtualMachine

ANSIBLE, WHOLE = "ansible", "all"
Machine = Rootfs | VirtualMachine
_DATASTREAM = f"/{debian_demo.DATASTREAM}"


def score_on_machine(settings: Settings, options: lineup_score.ScoreOptions, machine_name: str) -> int:
    """Run all trials and return the exit code. The machine lies in the data folder of `settings`."""
    if options.held_back or options.hosts != 1:
        raise BadInput(
            "hosts are generated only from the built-in host: leave out --hosts and --held-back with --host."
        )
    own = lineup_score.build_score_settings(settings, options.lineup)
    own, options = lineup_score.prepare_lineup_for_scored_address(own, options)
    machine: Machine = VirtualMachine(
        settings.data / "machines", machine_name, lambda text: print_line(text, to_stderr=True)
    )
    if not machine.is_built:
        machine = Rootfs(settings.data / "rootfs", machine_name)
        base = BASE if options.lineup == ANSIBLE else BaseImage()
        debian_demo.ensure_machine_built(machine, "a Debian 12", partial(machine.build, base))
    debian_demo.add_datastream_to_local_content_if_missing(find_content(machine))
    subject = lineup_score.choose_score_subject(own, options)
    lineup = subject.lineup
    skill = choose_skill(machine, options.skill)
    order = ScoreOrder(
        label=subject.label,
        kind=subject.kind,
        skill=skill,
        rules=choose_rules(machine, skill, options.rules),
        seeds=options.seeds,
        hosts=1,
        host=machine_name,
        together=True,
        machine_kind=UNSET if isinstance(machine, Rootfs) else machine.read_record().kind,
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
    machine: Machine,
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


async def _apply_vendor_fix(machine: Machine, tool: str, order: ScoreOrder, rule_arguments: str) -> VendorOutcome:
    if isinstance(machine, VirtualMachine):
        return await _apply_vendor_fixes_of_whole_profile(machine, tool, order)
    profile = f"xccdf_org.ssgproject.content_profile_{debian_demo.SKILL.rpartition(':')[2]}"
    if tool == ANSIBLE:
        return await run_ansible_fixes_between_scans(
            machine.get_access(), rule_arguments, order.rules, _DATASTREAM, profile
        )
    run_fixes = run_no_fixes_between_scans if tool == lineup_score.NOTHING else run_bash_fixes_between_scans
    return await run_fixes(machine.get_access(), rule_arguments, _DATASTREAM, profile)


async def _apply_vendor_fixes_of_whole_profile(machine: VirtualMachine, tool: str, order: ScoreOrder) -> VendorOutcome:
    image = machine.get_current_image_of_kind()
    fixes = FixesOnMachine(tool, image.content, image.profile, select_rules("", choose_skill(machine, "")))
    _, content, profile = order.skill.split(":")
    known = load_skill(order.skill).rules
    chosen = [known[rule].stig_id for rule in order.rules] if len(order.rules) < len(known) else []
    judge = MachineJudge(require_datastream(content), profile, chosen)
    return await asyncio.to_thread(run_fixes_and_reboot, machine, fixes, judge)


def find_content(machine: Machine) -> Path:
    """Return the data stream that comes with the machine's image, as a file here."""
    if isinstance(machine, Rootfs):
        return machine.base_folder / debian_demo.DATASTREAM
    return machine.base_image_folder / machine.get_current_image_of_kind().content


def choose_skill(machine: Machine, asked: str) -> str:
    """Return the skill that was asked for, or the whole profile of the content that comes with the machine."""
    if isinstance(machine, VirtualMachine):
        if asked and len(asked.split(":")) != 3:
            raise BadInput(f"{asked[:80]!a} is no skill of OpenSCAP: --skill takes scap:CONTENT:PROFILE.")
        image = machine.get_current_image_of_kind()
        return asked or f"scap:{image.content.removesuffix('-ds.xml')}:{image.profile}"
    if asked:
        raise BadInput(f"{machine.name} has the skill {debian_demo.SKILL}: leave --skill out, or build a machine.")
    return debian_demo.SKILL


def choose_rules(machine: Machine, skill: str, asked: str) -> tuple[str, ...]:
    if isinstance(machine, VirtualMachine) or asked:
        return select_rules(asked.removeprefix(WHOLE), skill)
    return debian_demo.keep_rules_of_demo_profile()


def _reset_and_open_target(settings: Settings, machine: Machine) -> Target:
    machine.reset()
    forget_changes_undone_by_machine_reset(settings.hosts_folder, machine.name)
    if isinstance(machine, Rootfs):
        debian_demo.register_machine(settings, machine, machine.start())
    else:
        title = machine.get_current_image_of_kind().title
        debian_demo.register_machine(settings, machine, machine.start(is_tied=True), title)
    return open_target(machine.name, settings.hosts_folder)
