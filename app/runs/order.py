"""Orders for runs and their validation, for the CLI, the API and the pages."""

from dataclasses import dataclass
from pathlib import Path
from typing import cast, get_args

from app.errors import Rejected, convert_bad_input_to_rejected
from app.events.event_field_types import Budget, Category, EngineChoice, Mode
from app.events.kinds import RunQueued
from app.lineups.model import Lineup
from app.runs.shared_field_checks import check_lengths, check_rule, load_known_skill
from app.skills.catalog import load_skill
from app.skills.skill import Skill
from app.targets import no_rollback_consent
from app.targets.host_registry import (
    FIXTURE,
    choose_auto_for_fixture_else_review,
    find_host,
    is_fixture,
    require_known_host,
)
from app.text.clean import clean_text

MODES: tuple[Mode, ...] = get_args(Mode)
PROFILES: dict[str, Category | None] = {"all": None, "cat-1": "I", "cat-2": "II", "cat-3": "III"}
ALL = "all"
LONGEST = {"host": 64, "skill": 200, "note": 500, "consent": 200}
MOST_RULES = 1000
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
    "reboot_seconds": (1, 3600),
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
    engine: EngineChoice = "lineup"
    """`none` asks no model: what the content proposes is tried in order."""
    after_reboot: bool = False
    """Only check which results of the host's last run hold after a reboot."""
    reboot: bool = False
    """Reboot the host after the last item, and see what still holds. A person approves it, unless it is disposable."""
    by: str
    whose: str = ""
    """Person for whom the run is made; empty if that is `by`."""
    token: str = ""
    """Id of the API token that ordered it."""

    @property
    def has_all_or_unset_rules(self) -> bool:
        return self.rules is None or self.rules == (ALL,)


def split_at_commas_unless_none(text: str | None) -> tuple[str, ...] | None:
    return None if text is None else tuple(word.strip() for word in text.split(",") if word.strip())


def create_run_request(order: Order, lineup: Lineup, hosts_folder: Path) -> RunQueued:
    """Return the run's first event. Raise Rejected if the order is invalid."""
    pack = validate_order_and_load_skill(order, hosts_folder)
    return RunQueued(
        host=order.host,
        skill=pack.name,
        rules=_select_order_rules_in_given_order(order, pack),
        mode=resolve_mode(order, pack),
        budget=order.budget,
        lineup=lineup.name,
        simulated=lineup.simulated,
        note=clean_text(order.note, LONGEST["note"]),
        pace=order.pace if lineup.simulated else None,
        keep=order.keep and is_fixture(order.host),
        by=order.by,
        consent=order.consent,
        replay_fixes=order.replay_fixes,
        after_reboot=order.after_reboot,
        engine=order.engine,
        reboot=order.reboot,
        whose=order.whose,
        token=order.token,
    )


def validate_order_and_load_skill(order: Order, hosts_folder: Path) -> Skill:
    """Validate the whole order and return its skill. Raise Rejected if it is invalid."""
    check_lengths(order, LONGEST)
    with convert_bad_input_to_rejected("host", "unknown-host"):
        require_known_host(order.host, hosts_folder)
    pack = load_known_skill(order.skill)
    _select_order_rules_in_given_order(order, pack)
    mode = resolve_mode(order, pack)
    if order.after_reboot and is_fixture(order.host):
        raise Rejected(
            "after_reboot", "the built-in host is a tree of files and does not boot: choose a host over SSH."
        )
    if order.after_reboot and mode != "scan":
        raise Rejected("after_reboot", "a check after a reboot changes nothing: choose the mode scan, or leave it out.")
    if order.reboot:
        _check_reboot(order.host, mode, hosts_folder)
    with convert_bad_input_to_rejected("consent"):
        no_rollback_consent.check_consent_if_given(order.host, order.consent)
    for name, (lowest, highest) in BOUNDS.items():
        if not lowest <= getattr(order.budget, name) <= highest:
            raise Rejected(f"budget.{name}", f"the budget's {name} must be between {lowest:g} and {highest:g}.")
    return pack


def _check_reboot(host: str, mode: Mode, hosts_folder: Path) -> None:
    """Raise Rejected if the host cannot boot, or if the run changes nothing that a reboot could undo."""
    found = find_host(hosts_folder, host)
    if found is None:
        why = "the built-in host is a tree of files and does not boot"
        raise Rejected("reboot", f"{why}: choose a host over SSH or a machine of temper machine, or leave reboot out.")
    if not found.has_own_boot:
        why = f"{host} is a Debian in a namespace of this machine and does not boot"
        raise Rejected("reboot", f"{why}: choose a machine of temper machine, or leave reboot out.")
    if mode not in ("auto", "review"):
        raise Rejected("reboot", f"a run in mode {mode} changes nothing: choose auto or review, or leave reboot out.")


def require_choice_of_lineup_or_none(word: str) -> EngineChoice:
    if word in get_args(EngineChoice):
        return cast("EngineChoice", word)
    raise Rejected("engine", f"there is no engine choice {word[:40]!a}: choose {' or '.join(get_args(EngineChoice))}.")


def select_rules(comma_separated_rules: str, skill_name: str) -> tuple[str, ...]:
    """Return the comma-separated rules of a skill, or all of them if empty."""
    order = Order(rules=split_at_commas_unless_none(comma_separated_rules) or None, skill=skill_name, by="")
    return _select_order_rules_in_given_order(order, load_skill(skill_name))


def resolve_mode(order: Order, pack: Skill) -> Mode:
    usual: Mode = "scan" if order.after_reboot else choose_auto_for_fixture_else_review(order.host)
    mode = pack.mode or usual if order.mode is None else order.mode
    if mode not in MODES:
        raise Rejected("mode", f"there is no mode {mode[:40]!a}: choose one of {', '.join(MODES)}.")
    if pack.mode and mode != pack.mode:
        raise Rejected("mode", f"{pack.title} runs only in mode {pack.mode}: choose that mode, or leave it out.")
    return mode


def _select_order_rules_in_given_order(order: Order, pack: Skill) -> tuple[str, ...]:
    if order.profile is not None:
        return _select_rules_by_category_profile(order.profile, order, pack)
    if order.rules is None or order.has_all_or_unset_rules:
        return tuple(pack.rules)
    if not order.rules:
        raise Rejected("rules", f"no rules are selected: give rules of {pack.title}, or {ALL}.")
    if len(order.rules) > MOST_RULES:
        raise Rejected(
            "rules",
            f"{len(order.rules)} rules are selected; the limit is {MOST_RULES}. For the whole skill give {ALL}.",
        )
    for place, rule in enumerate(order.rules):
        check_rule(f"rules[{place}]", rule, pack)
    return tuple(dict.fromkeys(order.rules))


def _select_rules_by_category_profile(profile: str, order: Order, pack: Skill) -> tuple[str, ...]:
    if order.rules is not None:
        raise Rejected("profile", "give rules or a profile, not both.")
    if profile not in PROFILES:
        raise Rejected("profile", f"there is no profile {profile[:40]!a}: choose one of {', '.join(PROFILES)}.")
    category = PROFILES[profile]
    found = tuple(rule.id for rule in pack.rules.values() if category in (None, rule.category))
    if not found:
        raise Rejected("profile", f"{pack.title} has no rule of category {category}: choose another profile.")
    return found
