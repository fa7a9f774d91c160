"""Comparisons that several programs share."""

import re
from collections.abc import Mapping

from app.targets.effects.strength import Compare, Strength, compare_unranked, create_measure

_NUMBER = re.compile(r"-?[0-9]{1,9}")


def parse_number(value: str) -> int | None:
    return int(value) if _NUMBER.fullmatch(value) else None


def _parse_negated(value: str) -> float | None:
    found = parse_number(value)
    return None if found is None else -found


def _parse_cap(value: str) -> float | None:
    """Return a measure where lower caps are stricter; 0 means no cap."""
    found = parse_number(value)
    if found is None:
        return None
    return -found if found > 0 else float("-inf")


def _parse_duration(value: str) -> float | None:
    found = parse_number(value)
    return float("inf") if found == 0 else found


compare_higher = create_measure(parse_number)
compare_lower = create_measure(_parse_negated)
compare_caps = create_measure(_parse_cap)
"""Lower is stricter; 0 is no cap."""
compare_durations = create_measure(_parse_duration)
"""Higher is stricter; 0 is unlimited."""


def compare_masks(was: str, now: str) -> Strength:
    """Compare octal umasks: more bits are stricter."""
    if not (re.fullmatch(r"[0-7]{1,4}", was) and re.fullmatch(r"[0-7]{1,4}", now)):
        return compare_unranked(was, now)
    old, new = int(was, 8), int(now, 8)
    if old == new:
        return Strength.EQUAL
    if old & new == old:
        return Strength.STRONGER
    return Strength.WEAKER if old & new == new else Strength.INCOMPARABLE


def compare_modes(was: str, now: str) -> Strength:
    """Compare octal modes: fewer bits are stricter."""
    return compare_masks(now, was)


def compare_by_key(scales: Mapping[str, Compare], key: str, was: str, now: str) -> Strength:
    """Compare by the scale of the key; a key without a scale may not change."""
    return scales.get(key, compare_unranked)(was, now)
