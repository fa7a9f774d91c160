"""Chooses the benchmark that names a skill's rules: of the installed ones, the one with most of them."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from app.errors import BadInput
from app.events.event_field_types import Published
from app.events.waiver_in_force import Waiver
from app.scanners.openscap.published_rules import read_published
from app.scanners.openscap.scap_files import ADDED, list_benchmarks
from app.skills.skill import Skill

_MOST_KEPT = 64
"""More than anybody adds: each call asks for all of them in turn, so with one more none would be kept."""


def choose_benchmark_with_skill_ids(skill: Skill, folders: Sequence[Path] = ADDED) -> Published | None:
    """Return the benchmark, or None if none names a rule. Reads files on the first call."""
    own = _read_benchmark(skill.content.datastream) if skill.content else None
    numbers = _map_v_numbers_to_rules(skill, own)
    at_hand = [one for file in list_benchmarks(folders) if (one := _read_benchmark(file))] + ([own] if own else [])
    named = (_keep_rules_under_skill_ids(one, numbers) for one in at_hand)
    return max((one for one in named if one.rules), key=_build_sort_key_by_rule_count_then_release, default=None)


def match_waivers_to_skill(waivers: Iterable[Waiver], skill: Skill, benchmark: Published | None) -> tuple[Waiver, ...]:
    """Return the skill's waivers under its own rule ids; a waiver may name a rule by its V-number."""
    numbers = {one.group: one.rule for one in benchmark.rules} if benchmark else {}
    named = ((one, one.rule if one.rule in skill.rules else numbers.get(one.rule)) for one in waivers)
    return tuple(msgspec.structs.replace(one, rule=rule) for one, rule in named if rule)


def _build_sort_key_by_rule_count_then_release(benchmark: Published) -> tuple[int, int, list[int], str]:
    """Sort key: most rules, then most check texts, then the newest release."""
    numbered = f"{benchmark.version} {benchmark.release[:14]}"
    digits = "".join(letter if letter.isdecimal() else " " for letter in numbered)
    return (
        len(benchmark.rules),
        sum(bool(rule.check) for rule in benchmark.rules),
        [*map(int, digits.split())],
        benchmark.sha256,
    )


def _map_v_numbers_to_rules(skill: Skill, own_benchmark: Published | None) -> dict[str, str]:
    """Map V-numbers to the skill's rules, without numbers that the content splits into several rules."""
    theirs = {one.rule: one.group for one in own_benchmark.rules} if own_benchmark else {}
    pairs = [(theirs.get(rule.stig_id, rule.id), rule.id) for rule in skill.rules_including_left_out]
    count = Counter(theirs.values())
    return {number: rule for number, rule in pairs if number.startswith("V-") and count[number] <= 1}


def _keep_rules_under_skill_ids(benchmark: Published, rules_by_v_number: dict[str, str]) -> Published:
    count = Counter(one.group for one in benchmark.rules)
    known = (one for one in benchmark.rules if one.group in rules_by_v_number and count[one.group] == 1)
    rules = tuple(msgspec.structs.replace(one, rule=rules_by_v_number[one.group]) for one in known)
    return msgspec.structs.replace(benchmark, rules=rules)


def _read_benchmark(file: Path) -> Published | None:
    try:
        return _parse_benchmark(file, file.stat().st_mtime_ns)
    except (OSError, BadInput):
        return None  # evidence is marked incomplete, and `scap list` shows why the content is unreadable


@lru_cache(_MOST_KEPT)
def _parse_benchmark(file: Path, _stamp: int) -> Published:
    return read_published(file.read_bytes(), file.name)
