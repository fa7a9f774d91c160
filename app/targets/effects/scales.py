"""Comparisons that several programs share."""

import re
from collections.abc import Mapping

from app.targets.effects.strength import Compare, Strength, equal_or_not, measured

_NUMBER = re.compile(r"-?[0-9]{1,9}")


def number(value: str) -> int | None:
    return int(value) if _NUMBER.fullmatch(value) else None


def _negated(value: str) -> float | None:
    found = number(value)
    return None if found is None else -found


def _capped(value: str) -> float | None:
    """Return a measure where lower caps are stricter; 0 means no cap."""
    found = number(value)
    if found is None:
        return None
    return -found if found > 0 else float("-inf")


def _lasting(value: str) -> float | None:
    found = number(value)
    return float("inf") if found == 0 else found


more = measured(number)
less = measured(_negated)
cap = measured(_capped)
"""Lower is stricter; 0 is no cap."""
lasting = measured(_lasting)
"""Higher is stricter; 0 is unlimited."""


def mask(was: str, now: str) -> Strength:
    """Compare octal umasks: more bits are stricter."""
    if not (re.fullmatch(r"[0-7]{1,4}", was) and re.fullmatch(r"[0-7]{1,4}", now)):
        return equal_or_not(was, now)
    old, new = int(was, 8), int(now, 8)
    if old == new:
        return Strength.EQUAL
    if old & new == old:
        return Strength.STRONGER
    return Strength.WEAKER if old & new == new else Strength.INCOMPARABLE


def mode(was: str, now: str) -> Strength:
    """Compare octal modes: fewer bits are stricter."""
    return mask(now, was)


def by_key(scales: Mapping[str, Compare], key: str, was: str, now: str) -> Strength:
    """Compare by the scale of the key; a key without a scale may not change."""
    return scales.get(key, equal_or_not)(was, now)
