"""Run one trial: the real loop on a fresh host, then an inspection that does not depend on the loop."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from app.errors import TemperError
from app.events.event_field_types import Budget, Probe
from app.events.kinds import RunQueued
from app.events.log_writer import RunLog
from app.events.person_command import Command
from app.loop.drive import drive_run, roll_back_and_fail_run
from app.loop.harm_seen_by_probes import find_first_harm, find_first_harm_after_reboot
from app.loop.run_in_progress import Run, RunServices
from app.loop.state import fold_events
from app.machine.sampling.role_energy import extrapolate_joules_if_enough_sampled
from app.machine.sampling.run_energy import EnergyLedger
from app.runs.scanner_factory import create_scanner
from app.runtime.role_engine_clients import create_seats
from app.runtime.runtime import Runtime, create_random_run_id
from app.scores import generated_hosts
from app.scores.file_host_second_check import (
    EffectiveSettings,
    describe_weakening_or_excess,
    find_whether_requirement_is_met,
)
from app.scores.generated_hosts import GeneratedHost
from app.scores.machine_second_check import copy_with_effects, observe_effects
from app.scores.run_summary import summarize_run
from app.scores.score_structures import ScoreOrder, Trial, TrialOutcome
from app.scores.vendor_fixes import build_root_ways, probe_ways_to_root
from app.skills.catalog import load_skill
from app.skills.skill import Skill
from app.syntax.host_files_protocol import Files
from app.targets.fixture.fixture_target import FixtureTarget
from app.targets.rootfs.rootfs_machine import Rootfs
from app.targets.target import Target
from app.targets.target_thread import TargetThread
from app.targets.vm.virtual_machine import VirtualMachine


class NoOperator:
    """An inbox without commands: no person takes part."""

    async def list_open_commands(self) -> list[Command]:
        return []

    async def close(self, command: Command) -> None: ...

    async def wait_for_commands(self) -> None:
        await asyncio.get_running_loop().create_future()


async def run_file_host_trial(
    runtime: Runtime, order: ScoreOrder, seed: int, host: GeneratedHost, rules: tuple[str, ...], budget: Budget
) -> Trial:
    """Run a trial on a new built-in or generated host, compared with an untouched twin."""
    pack = load_skill(order.skill)
    twin = await generated_hosts.write_and_open_host(host, runtime.settings.data / "twin")
    was = await asyncio.to_thread(twin.check_health)
    folder = runtime.settings.hosts_folder / "fixture"
    await asyncio.to_thread(generated_hosts.empty_folder_and_write_host, host, folder)
    began = time.monotonic()
    run = await _run_to_end(runtime, order, FixtureTarget("fixture", folder), rules, budget)
    seconds = time.monotonic() - began
    after = FixtureTarget("fixture", folder)
    trial = _build_trial(runtime, pack, seed, host.name, run, await asyncio.to_thread(after.check_health), was)
    fates = _copy_with_second_check(trial.fates, after.files)
    asks = frozenset[str]().union(*(pack.rules[rule].permitted_weakenings for rule in rules))
    spoilt = describe_weakening_or_excess(twin.tree, after.tree, asks)
    return msgspec.structs.replace(trial, fates=fates, traps=host.traps, weakened=spoilt, seconds=round(seconds, 3))


async def run_added_host_trial_on_new_machine(
    runtime: Runtime, order: ScoreOrder, seed: int, target: Target, new_machine: Rootfs | VirtualMachine, budget: Budget
) -> Trial:
    """Run a trial on a disposable machine that the caller has just created; `target` connects to it."""
    rules = order.rules
    pack = load_skill(order.skill)
    target.set_rule_paths_to_fetch(path for rule in rules for path in pack.rules[rule].paths)
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    was, open_before = await asyncio.to_thread(target.check_health), await probe_ways_to_root(new_machine)
    began = time.monotonic()
    run = await _run_to_end(runtime, order, target, rules, budget)
    seconds = time.monotonic() - began
    ways = build_root_ways(open_before, await probe_ways_to_root(new_machine))
    trial = _build_trial(
        runtime, pack, seed, order.host, run, await asyncio.to_thread(target.check_health), was, order.is_rebooted
    )
    fates = copy_with_effects(order.skill, trial.fates, await observe_effects(new_machine))
    return msgspec.structs.replace(trial, fates=fates, ways=ways, seconds=round(seconds, 3))


async def run_untouched_trial(
    order: ScoreOrder, seed: int, host: GeneratedHost, rules: tuple[str, ...], folder: Path
) -> Trial:
    """Return the trial of the baseline that changes nothing."""
    pack = load_skill(order.skill)
    target = await generated_hosts.write_and_open_host(host, folder)
    verdicts = await create_scanner(pack, target, folder.parent).scan(target.files, rules)
    words = {verdict.rule: verdict.word for verdict in verdicts}
    outcomes = (TrialOutcome(rule=rule, opening=words[rule], closing=words[rule]) for rule in rules)
    fates = _copy_with_second_check(outcomes, target.files)
    return Trial(seed=seed, host=host.name, rules=rules, fates=fates, traps=host.traps)


async def _run_to_end(
    runtime: Runtime, order: ScoreOrder, target: Target, rules: tuple[str, ...], budget: Budget
) -> str:
    """Run to completion or failure and return the run's id."""
    simulated = runtime.lineup.simulated and order.engine == "lineup"
    request = RunQueued(
        host=target.name,
        skill=order.skill,
        rules=rules,
        mode="auto",
        budget=budget,
        lineup=runtime.lineup.name,
        simulated=simulated,
        pace=runtime.settings.speed if simulated else None,
        keep=True,
        engine=order.engine,
        reboot=order.is_rebooted,
        note=f"score of {order.label}",
        by="temper score",
    )
    run = RunLog(create_random_run_id(), runtime.writer)
    pack = load_skill(order.skill)
    services = RunServices(
        skill=pack,
        target=TargetThread(target),
        scanner=create_scanner(pack, target, runtime.settings.hosts_folder),
        seats=create_seats(runtime.lineup, runtime.bases, runtime.http, runtime.queues, traced=False),
        worker=runtime.name,
    )
    state = Run(fold_events(run.append(request)), run, services)
    try:
        await drive_run(state, NoOperator())
    except TemperError as exc:
        await roll_back_and_fail_run(state, str(exc))
    await run.flush()
    return run.run


def _build_trial(
    runtime: Runtime,
    skill: Skill,
    seed: int,
    host: str,
    run: str,
    probes_after: Sequence[Probe],
    probes_before: Sequence[Probe],
    is_rebooted: bool = False,
) -> Trial:
    found = summarize_run(runtime.store.read_events(run), skill)
    # A run that failed may have ended before its reboot.
    find_harm = find_first_harm_after_reboot if is_rebooted and not found.broken else find_first_harm
    harm = find_harm(probes_before, probes_after)
    return Trial(
        seed=seed,
        host=host,
        rules=tuple(fate.rule for fate in found.fates),
        fates=found.fates,
        run=run,
        head=found.head,
        events=found.events,
        worse=(harm,) if harm else (),
        left=found.left,
        broken=found.broken,
        joules=_find_joules(runtime, run),
    )


def _find_joules(runtime: Runtime, run: str) -> float | None:
    """Return the measured energy of a run; None if simulated or incomplete."""
    spent = EnergyLedger(runtime.store, runtime.lineup).compute_run_energy(run)
    if spent is None or spent.simulated or not spent.spent:
        return None
    drawn = [extrapolate_joules_if_enough_sampled(one) for one in spent.spent if one.gpu_seconds]
    known = [one for one in drawn if one is not None]
    return sum(known) if known and len(known) == len(drawn) else None


def _copy_with_second_check(fates: Iterable[TrialOutcome], files: Files) -> tuple[TrialOutcome, ...]:
    reading = EffectiveSettings(files)
    return tuple(
        msgspec.structs.replace(fate, met=find_whether_requirement_is_met(fate.rule, reading)) for fate in fates
    )
