"""`temper score … --host NAME`: score on a disposable Debian, reset for each trial and scanned by OpenSCAP."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from app.cli.command_runtime import load_lineup, open_runtime
from app.cli.debian_demo import CONTENT, RULES, SKILL, ensure_built, register_machine, store_content
from app.cli.score import ON_DEBIAN, ScoreOptions, close_interrupted_runs, finish_score, format_score_label, print_trial
from app.config import Settings
from app.errors import BadInput
from app.lineups.model import Lineup
from app.runs.order import select_rules
from app.scores.ansible import BASE, run_ansible_fixes
from app.scores.result import ScoreOrder, Trial
from app.scores.trial_runner import run_added_host_trial
from app.scores.trials import TrialJournal
from app.scores.vendor_fixes import VendorOutcome, run_bash_fixes, run_vendor_trial
from app.skills.catalog import load_skill
from app.targets.host_registry import open_target
from app.targets.rootfs.base_image import BaseImage
from app.targets.rootfs.machine import Rootfs
from app.targets.target import Target

ANSIBLE, WHOLE = "ansible", "all"
_DATASTREAM = f"/usr/share/xml/scap/ssg/content/{CONTENT}-ds.xml"


def score_debian(settings: Settings, asked: ScoreOptions, name: str) -> int:
    """Run all trials and return the exit code. The machine lies in the data folder of `settings`."""
    if asked.held_back or asked.hosts != 1:
        raise BadInput(
            "hosts are generated only from the built-in host: leave out --hosts and --held-back with --host."
        )
    machine = Rootfs(settings.data / "rootfs", name)
    ensure_built(machine, BASE if asked.lineup == ANSIBLE else BaseImage())
    store_content(machine)
    own = replace(settings, data=settings.data / "score", database_url="", lineup=asked.lineup)
    lineup = None if asked.lineup in ON_DEBIAN else load_lineup(own)
    rules = select_rules(asked.rules.removeprefix(WHOLE), SKILL) if asked.rules else tuple(_select_demo_rules())
    order = ScoreOrder(
        label=format_score_label(lineup, asked.budget) if lineup else ON_DEBIAN[asked.lineup],
        kind="line-up" if lineup else "baseline",
        skill=SKILL,
        rules=rules,
        seeds=asked.seeds,
        hosts=1,
        host=name,
        together=True,
    )
    notes = TrialJournal(asked.out.with_suffix(".part"), order)
    try:
        asyncio.run(_run_trials(own, lineup, order, notes, machine, asked))
    finally:
        machine.stop()
    return finish_score(own, order, lineup, notes, asked)


def _select_demo_rules() -> Iterator[str]:
    there = load_skill(SKILL).rules
    return (rule for rule in RULES if rule in there)


async def _run_trials(
    settings: Settings,
    lineup: Lineup | None,
    order: ScoreOrder,
    notes: TrialJournal,
    machine: Rootfs,
    asked: ScoreOptions,
) -> None:
    left = [seed for seed in range(1, order.seeds + 1) if (seed, order.host, order.rules) not in notes.done]
    if lineup is None:
        for seed in left:
            notes.add(
                _print_and_return(seed, order, await _run_vendor_trial(settings, order, seed, machine, asked.lineup))
            )
        return
    await close_interrupted_runs(settings)
    async with open_runtime(settings, lineup) as runtime:
        for seed in left:
            target = _open_fresh_target(settings, machine)
            try:
                notes.add(
                    _print_and_return(
                        seed, order, await run_added_host_trial(runtime, order, seed, target, machine, asked.budget)
                    )
                )
            finally:
                await asyncio.to_thread(target.close)


async def _run_vendor_trial(settings: Settings, order: ScoreOrder, seed: int, machine: Rootfs, by: str) -> Trial:
    target = _open_fresh_target(settings, machine)
    profile = f"xccdf_org.ssgproject.content_profile_{SKILL.rpartition(':')[2]}"

    async def apply_vendor_fix(rules: str) -> VendorOutcome:
        at = machine.get_access()
        if by == ANSIBLE:
            return await run_ansible_fixes(at, rules, order.rules, _DATASTREAM, profile)
        return await run_bash_fixes(at, rules, _DATASTREAM, profile)

    try:
        return await run_vendor_trial(order, seed, machine, target, apply_vendor_fix)
    finally:
        await asyncio.to_thread(target.close)


def _open_fresh_target(settings: Settings, machine: Rootfs) -> Target:
    machine.reset()
    register_machine(settings, machine, machine.start())
    return open_target(machine.name, settings.hosts_folder)


def _print_and_return(seed: int, order: ScoreOrder, trial: Trial) -> Trial:
    print_trial(seed, order.seeds, trial)
    return trial
