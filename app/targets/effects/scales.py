"""Scales that several programs are measured by."""

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
    """None and 0 are no cap at all."""
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
"""Less is stricter, and 0 is none."""
lasting = measured(_lasting)
"""More is stricter, and 0 is for ever."""


def mask(was: str, now: str) -> Strength:
    """Octal: what is taken from everybody. More bits are stricter."""
    if not (re.fullmatch(r"[0-7]{1,4}", was) and re.fullmatch(r"[0-7]{1,4}", now)):
        return equal_or_not(was, now)
    old, new = int(was, 8), int(now, 8)
    if old == new:
        return Strength.EQUAL
    if old & new == old:
        return Strength.STRONGER
    return Strength.WEAKER if old & new == new else Strength.INCOMPARABLE


def mode(was: str, now: str) -> Strength:
    """Octal: what is given. Fewer bits are stricter."""
    return mask(now, was)


def by_key(scales: Mapping[str, Compare], key: str, was: str, now: str) -> Strength:
    """A key that nobody has ranked may not change at all."""
    return scales.get(key, equal_or_not)(was, now)
