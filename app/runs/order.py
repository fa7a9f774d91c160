"""From words on a command line or in a body to a run's first event; whatever is wrong is said in one sentence."""

import getpass
from pathlib import Path
from typing import get_args

from app.errors import BadInput
from app.events.kinds import RunQueued
from app.events.words import Budget, Mode
from app.lineups.model import Lineup
from app.skills.catalog import nearest, skill
from app.skills.skill import Skill
from app.targets import consent
from app.targets.catalog import known_host, usual_mode
from app.targets.registry import is_fixture


def queued(
    lineup: Lineup,
    *,
    host: str,
    rules: str,
    mode: str,
    keep: bool,
    budget: Budget,
    note: str,
    pace: float | None = None,
    by: str | None = None,
    skill_name: str = "stig",
    hosts: Path = Path("data/hosts"),
    said: str = "",
) -> RunQueued:
    """An empty mode is the host's usual one. Only the built-in host is laid out anew, so only it can be kept."""
    known_host(host, hosts)
    consent.check(host, said)
    return RunQueued(
        host=host,
        skill=skill_name,
        rules=rules_of(rules, skill_name),
        mode=mode_of(mode or skill(skill_name).mode or usual_mode(host), skill(skill_name)),
        budget=budget,
        lineup=lineup.name,
        simulated=lineup.simulated,
        note=note,
        pace=pace if lineup.simulated else None,
        keep=keep and is_fixture(host),
        by=by or getpass.getuser(),
        consent=said,
    )


def mode_of(mode: str, pack: Skill) -> Mode:
    if mode not in get_args(Mode):
        raise BadInput(f"there is no mode {mode!r}: choose one of {', '.join(get_args(Mode))}.")
    if pack.mode and mode != pack.mode:
        raise BadInput(f"{pack.title}: it is only run as {pack.mode}; ask for --mode {pack.mode}.")
    return mode  # type: ignore[return-value]


def rules_of(rules: str, skill_name: str) -> tuple[str, ...]:
    pack = skill(skill_name)
    asked = [rule.strip() for rule in rules.split(",") if rule.strip()]
    for rule in asked:
        if rule not in pack.rules:
            near = nearest(rule, pack)
            way_on = f"nearest are {', '.join(near)}" if near else f"it has such as {', '.join(list(pack.rules)[:3])}"
            raise BadInput(f"there is no rule {rule!r} in {pack.title}: {way_on}.")
    return tuple(dict.fromkeys(asked)) or tuple(pack.rules)
