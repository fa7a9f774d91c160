"""Orders for runs and their validation, for the CLI, the API and the pages."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from app.errors import BadInput, NotTaken
from app.events.kinds import RunQueued
from app.events.words import Budget, Category, Mode
from app.lineups.model import Lineup
from app.skills.catalog import nearest, skill
from app.skills.skill import Skill
from app.targets import consent
from app.targets.catalog import FIXTURE, known_host, usual_mode
from app.targets.registry import is_fixture
from app.text.clean import clean

MODES: tuple[Mode, ...] = get_args(Mode)
PROFILES: dict[str, Category | None] = {"all": None, "cat-1": "I", "cat-2": "II", "cat-3": "III"}
ALL = "all"
LONGEST = {"host": 64, "skill": 200, "note": 500, "consent": 200}
RULE_LENGTH, MOST_RULES = 128, 1000
USUAL = Budget()
_DAY = 24 * 3600.0
BOUNDS: dict[str, tuple[float, float]] = {
    "run_seconds": (0.1, 30 * _DAY),
    "item_seconds": (0.1, _DAY),
    "turn_seconds": (0.1, _DAY),
    "stall_seconds": (0.1, 3600),
    "approval_seconds": (0.1, 30 * _DAY),
    "attempts": (1, 50),
    "item_tokens": (100, 10_000_000),
}
"""Minimum and maximum of each budget field."""


@dataclass(frozen=True, kw_only=True)
class Order:
    host: str = FIXTURE
    skill: str = "stig"
    rules: tuple[str, ...] | None = None
    """Rule ids. None or ("all",) means the whole skill; an empty tuple is an error."""
    profile: str | None = None
    """Category profile, instead of rules."""
    mode: str | None = None
    """None means the host's default mode."""
    keep: bool = False
    """Do not reset the built-in host; no other host is reset."""
    budget: Budget = USUAL
    note: str = ""
    consent: str = ""
    """Sentence that accepts a host without rollback."""
    pace: float | None = None
    """Pace of simulated engines."""
    replay_fixes: bool = True
    """Try fixes that worked on other hosts with the same files before asking the roles."""
    after_reboot: bool = False
    """Only check which results of the host's last run hold after a reboot."""
    by: str
    whose: str = ""
    """Person for whom the run is made; empty if that is `by`."""
    token: str = ""
    """Id of the API token that ordered it."""

    @property
    def whole(self) -> bool:
        return self.rules is None or self.rules == (ALL,)


def named(words: str | None) -> tuple[str, ...] | None:
    """Split comma-separated rule ids; return None for None."""
    return None if words is None else tuple(word.strip() for word in words.split(",") if word.strip())


def queued(order: Order, lineup: Lineup, hosts: Path) -> RunQueued:
    """Return the run's first event. Raise Rejected if the order is invalid."""
    pack = checked(order, hosts)
    return RunQueued(
        host=order.host,
        skill=pack.name,
        rules=_rules(order, pack),
        mode=mode_of(order, pack),
        budget=order.budget,
        lineup=lineup.name,
        simulated=lineup.simulated,
        note=clean(order.note, LONGEST["note"]),
        pace=order.pace if lineup.simulated else None,
        keep=order.keep and is_fixture(order.host),
        by=order.by,
        consent=order.consent,
        replay_fixes=order.replay_fixes,
        after_reboot=order.after_reboot,
        whose=order.whose,
        token=order.token,
    )


def checked(order: Order, hosts: Path) -> Skill:
    """Validate the whole order and return its skill. Raise Rejected if it is invalid."""
    for field, most in LONGEST.items():
        if (length := len(getattr(order, field))) > most:
            raise NotTaken(field, f"the {field} has {length} characters: {most} are the most.")
    with _fault_of("host", "unknown-host"):
        known_host(order.host, hosts)
    with _fault_of("skill", "unknown-skill"):
        pack = skill(order.skill)
    _rules(order, pack)
    mode = mode_of(order, pack)
    if order.after_reboot and is_fixture(order.host):
        raise NotTaken("after_reboot", "the built-in host is a tree of files and does not boot: name a host over SSH.")
    if order.after_reboot and mode != "scan":
        raise NotTaken("after_reboot", "a check after a reboot only looks: choose the mode scan, or leave it out.")
    with _fault_of("consent"):
        consent.check(order.host, order.consent)
    for name, (lowest, highest) in BOUNDS.items():
        if not lowest <= getattr(order.budget, name) <= highest:
            said = f"the budget's {name} may be anything from {lowest:g} to {highest:g}."
            raise NotTaken(f"budget.{name}", said)
    return pack


def rules_of(rules: str, name: str) -> tuple[str, ...]:
    """Return the comma-separated rules of a skill, or all of them if empty."""
    return _rules(Order(rules=named(rules) or None, skill=name, by=""), skill(name))


def mode_of(order: Order, pack: Skill) -> Mode:
    usual: Mode = "scan" if order.after_reboot else usual_mode(order.host)
    mode = pack.mode or usual if order.mode is None else order.mode
    if mode not in MODES:
        raise NotTaken("mode", f"there is no mode {mode[:40]!a}: choose one of {', '.join(MODES)}.")
    if pack.mode and mode != pack.mode:
        raise NotTaken("mode", f"{pack.title}: it is only run as {pack.mode}; choose that mode, or leave it out.")
    return mode


def _rules(order: Order, pack: Skill) -> tuple[str, ...]:
    if order.profile is not None:
        return _of_profile(order.profile, order, pack)
    if order.rules is None or order.whole:
        return tuple(pack.rules)
    if not order.rules:
        raise NotTaken("rules", f"no rule is named: name some of {pack.title}, or say {ALL}.")
    if len(order.rules) > MOST_RULES:
        raise NotTaken(
            "rules", f"{len(order.rules)} rules are named: {MOST_RULES} are the most. For the whole skill say {ALL}."
        )
    for place, rule in enumerate(order.rules):
        if rule not in pack.rules:
            raise NotTaken(f"rules[{place}]", _no_rule(rule, pack), "unknown-rule")
    return tuple(dict.fromkeys(order.rules))


def _of_profile(profile: str, order: Order, pack: Skill) -> tuple[str, ...]:
    if order.rules is not None:
        raise NotTaken("profile", "give rules or a profile, not both.")
    if profile not in PROFILES:
        raise NotTaken("profile", f"there is no profile {profile[:40]!a}: choose one of {', '.join(PROFILES)}.")
    category = PROFILES[profile]
    found = tuple(rule.id for rule in pack.rules.values() if category in (None, rule.category))
    if not found:
        raise NotTaken("profile", f"{pack.title} has no rule of category {category}: choose another profile.")
    return found


def _no_rule(rule: str, pack: Skill) -> str:
    near = nearest(rule, pack)
    way_on = f"the nearest are {', '.join(near)}" if near else f"it has rules such as {', '.join([*pack.rules][:3])}"
    return f"there is no rule {rule[:RULE_LENGTH]!a} in {pack.title}: {way_on}."


@contextmanager
def _fault_of(field: str, kind: str = "invalid") -> Iterator[None]:
    try:
        yield
    except BadInput as exc:
        raise NotTaken(field, str(exc), kind) from exc
