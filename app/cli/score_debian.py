"""`temper score … --host NAME`: score on a disposable Debian, reset for each trial and scanned by OpenSCAP."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

from app.cli.opening import chosen_lineup, opened
from app.cli.real_demo import CONTENT, RULES, SKILL, built, keep_content, make_known
from app.cli.score import ON_DEBIAN, ScoreAsked, close_cut_off, finish, label, tell
from app.config import Settings
from app.errors import BadInput
from app.lineups.model import Lineup
from app.runs.order import rules_of
from app.scores.ansible import BASE, ansible_outcome
from app.scores.play import on_added
from app.scores.result import ScoreOrder, Trial
from app.scores.trials import Notes
from app.scores.vendor import Outcome, bash_outcome, by_vendor
from app.skills.catalog import skill
from app.targets.catalog import open_target
from app.targets.rootfs.base import Base
from app.targets.rootfs.machine import Rootfs
from app.targets.target import Target

ANSIBLE, WHOLE = "ansible", "all"
_DATASTREAM = f"/usr/share/xml/scap/ssg/content/{CONTENT}-ds.xml"


def score_debian(settings: Settings, asked: ScoreAsked, name: str) -> int:
    """Run all trials and return the exit code. The machine lies in the data folder of `settings`."""
    if asked.held_back or asked.hosts != 1:
        raise BadInput(
            "hosts are generated from the built-in one only: leave --hosts and --held-back away with --host."
        )
    machine = Rootfs(settings.data / "rootfs", name)
    built(machine, BASE if asked.lineup == ANSIBLE else Base())
    keep_content(machine)
    own = replace(settings, data=settings.data / "score", database_url="", lineup=asked.lineup)
    lineup = None if asked.lineup in ON_DEBIAN else chosen_lineup(own)
    rules = rules_of(asked.rules.removeprefix(WHOLE), SKILL) if asked.rules else tuple(_chosen())
    order = ScoreOrder(
        label=label(lineup, asked.budget) if lineup else ON_DEBIAN[asked.lineup],
        kind="line-up" if lineup else "baseline",
        skill=SKILL,
        rules=rules,
        seeds=asked.seeds,
        hosts=1,
        host=name,
        together=True,
    )
    notes = Notes(asked.out.with_suffix(".part"), order)
    try:
        asyncio.run(_trials(own, lineup, order, notes, machine, asked))
    finally:
        machine.stop()
    return finish(own, order, lineup, notes, asked)


def _chosen() -> Iterator[str]:
    there = skill(SKILL).rules
    return (rule for rule in RULES if rule in there)


async def _trials(
    settings: Settings, lineup: Lineup | None, order: ScoreOrder, notes: Notes, machine: Rootfs, asked: ScoreAsked
) -> None:
    left = [seed for seed in range(1, order.seeds + 1) if (seed, order.host, order.rules) not in notes.done]
    if lineup is None:
        for seed in left:
            notes.add(_told(seed, order, await _vendor(settings, order, seed, machine, asked.lineup)))
        return
    await close_cut_off(settings)
    async with opened(settings, lineup) as runtime:
        for seed in left:
            target = _new(settings, machine)
            try:
                notes.add(_told(seed, order, await on_added(runtime, order, seed, target, machine, asked.budget)))
            finally:
                await asyncio.to_thread(target.close)


async def _vendor(settings: Settings, order: ScoreOrder, seed: int, machine: Rootfs, by: str) -> Trial:
    target = _new(settings, machine)
    profile = f"xccdf_org.ssgproject.content_profile_{SKILL.rpartition(':')[2]}"

    async def work(rules: str) -> Outcome:
        at = machine.reachable()
        if by == ANSIBLE:
            return await ansible_outcome(at, rules, order.rules, _DATASTREAM, profile)
        return await bash_outcome(at, rules, _DATASTREAM, profile)

    try:
        return await by_vendor(order, seed, machine, target, work)
    finally:
        await asyncio.to_thread(target.close)


def _new(settings: Settings, machine: Rootfs) -> Target:
    machine.reset()
    make_known(settings, machine, machine.start())
    return open_target(machine.name, settings.hosts)


def _told(seed: int, order: ScoreOrder, trial: Trial) -> Trial:
    tell(seed, order.seeds, trial)
    return trial
