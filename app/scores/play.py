"""Run one trial: the real loop on a fresh host, then an inspection that does not depend on the loop."""

import asyncio
import logging
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from app.errors import TemperError
from app.events.command import Command
from app.events.kinds import RunQueued
from app.events.log import RunLog
from app.events.words import Budget, Lesson, Probe
from app.loop.drive import drive, give_up
from app.loop.harm import worse
from app.loop.run import Means, Run
from app.loop.state import fold
from app.machine.sampling.energy import joules
from app.machine.sampling.ledger import EnergyLedger
from app.runs.scanner import scanner_for
from app.runtime.runtime import Runtime, new_run_id
from app.runtime.seats import seats
from app.scores import hosts
from app.scores.deeds import confirmed, deeds
from app.scores.fold import told
from app.scores.hidden import HostReading, met, weakened
from app.scores.hosts import MadeHost
from app.scores.result import Fate, ScoreOrder, Trial
from app.skills.catalog import skill
from app.skills.skill import Skill
from app.targets.fixture.target import FixtureTarget
from app.targets.rootfs.machine import Rootfs
from app.targets.target import Target
from app.targets.thread import TargetThread

log = logging.getLogger("temper")


class NoLessons:
    """No lessons, so that trials stay independent."""

    def known(self, rule: str) -> Sequence[Lesson]:  # noqa: ARG002
        return ()


class Nobody:
    """An inbox without commands: no person takes part."""

    async def waiting(self) -> list[Command]:
        return []

    async def close(self, command: Command) -> None: ...

    async def pause(self) -> None:
        await asyncio.get_running_loop().create_future()


async def on_built_in(
    runtime: Runtime, order: ScoreOrder, seed: int, host: MadeHost, rules: tuple[str, ...], budget: Budget
) -> Trial:
    """Run a trial on a new built-in or generated host, compared with an untouched twin."""
    pack = skill(order.skill)
    twin = await hosts.opened(host, runtime.settings.data / "twin")
    was = await asyncio.to_thread(twin.health)
    folder = runtime.settings.hosts / "fixture"
    hosts.place(host, folder)
    began = time.monotonic()
    run = await _worked(runtime, order, FixtureTarget("fixture", folder), rules, budget)
    seconds = time.monotonic() - began
    after = FixtureTarget("fixture", folder)
    trial = _trial(runtime, pack, seed, host.name, run, await asyncio.to_thread(after.health), was)
    fates = tuple(_checked(fate, HostReading(after.files)) for fate in trial.fates)
    asks = frozenset[str]().union(*(pack.rules[rule].asks for rule in rules))
    spoilt = weakened(twin.tree, after.tree, asks)
    return msgspec.structs.replace(trial, fates=fates, traps=host.traps, weakened=spoilt, seconds=round(seconds, 3))


async def on_added(
    runtime: Runtime, order: ScoreOrder, seed: int, target: Target, machine: Rootfs, budget: Budget
) -> Trial:
    """Run a trial on a disposable machine that the caller has just created; `target` connects to it."""
    rules = order.rules
    pack = skill(order.skill)
    target.needs(path for rule in rules for path in pack.rules[rule].paths)
    await asyncio.to_thread(lambda: target.prepare(keep=True))
    was = await asyncio.to_thread(target.health)
    began = time.monotonic()
    run = await _worked(runtime, order, target, rules, budget)
    seconds = time.monotonic() - began
    trial = _trial(runtime, pack, seed, order.host, run, await asyncio.to_thread(target.health), was)
    fates = confirmed(trial.fates, await deeds(machine))
    return msgspec.structs.replace(trial, fates=fates, seconds=round(seconds, 3))


async def untouched(order: ScoreOrder, seed: int, host: MadeHost, rules: tuple[str, ...], folder: Path) -> Trial:
    """Return the trial of the baseline that changes nothing."""
    pack = skill(order.skill)
    target = await hosts.opened(host, folder)
    verdicts = await scanner_for(pack, target, folder.parent).scan(target.files, rules)
    words = {verdict.rule: verdict.word for verdict in verdicts}
    fates = tuple(Fate(rule=rule, opening=words[rule], closing=words[rule]) for rule in rules)
    checked = tuple(_checked(fate, HostReading(target.files)) for fate in fates)
    return Trial(seed=seed, host=host.name, rules=rules, fates=checked, traps=host.traps)


async def _worked(runtime: Runtime, order: ScoreOrder, target: Target, rules: tuple[str, ...], budget: Budget) -> str:
    """Run to completion or failure and return the run's id."""
    simulated = runtime.lineup.simulated
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
        note=f"score of {order.label}",
        by="temper score",
    )
    run = RunLog(new_run_id(), runtime.writer)
    means = _means(runtime, order, target)
    state = Run(fold(run.append(request)), run, means)
    try:
        await drive(state, Nobody())
    except TemperError as exc:
        await give_up(state, str(exc))
    await run.flush()
    return run.run


def _means(runtime: Runtime, order: ScoreOrder, target: Target) -> Means:
    pack = skill(order.skill)
    return Means(
        skill=pack,
        target=TargetThread(target),
        scanner=scanner_for(pack, target, runtime.settings.hosts),
        seats=seats(runtime.lineup, runtime.bases, runtime.http, runtime.queues, traced=False),
        lessons=NoLessons(),
        worker=runtime.name,
    )


def _trial(
    runtime: Runtime, pack: Skill, seed: int, host: str, run: str, now: Sequence[Probe], was: Sequence[Probe]
) -> Trial:
    found = told(runtime.store.events(run), pack)
    harm = worse(was, now)
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
        joules=_joules(runtime, run),
    )


def _joules(runtime: Runtime, run: str) -> float | None:
    """Return the measured energy of a run; None if simulated or incomplete."""
    spent = EnergyLedger(runtime.store, runtime.lineup).spent(run)
    if spent is None or spent.simulated or not spent.spent:
        return None
    drawn = [joules(one) for one in spent.spent if one.gpu_seconds]
    known = [one for one in drawn if one is not None]
    return sum(known) if known and len(known) == len(drawn) else None


def _checked(fate: Fate, reading: HostReading) -> Fate:
    return msgspec.structs.replace(fate, met=met(fate.rule, reading))
