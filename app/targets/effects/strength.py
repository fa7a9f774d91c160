"""How two values of one setting compare, for whoever depends on its strictness."""

from collections.abc import Callable, Sequence
from enum import Enum


class Strength(Enum):
    STRONGER = "stronger"
    EQUAL = "equal"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"


Compare = Callable[[str, str], Strength]
"""What the second value is, seen from the first."""


def equal_or_not(was: str, now: str) -> Strength:
    """The order of what nobody has ranked: any other value may be the weaker one."""
    return Strength.EQUAL if was == now else Strength.INCOMPARABLE


def ranked(*weakest_first: str) -> Compare:
    """Words from the weakest to the strictest; a word that is not among them compares with nothing."""

    def compare(was: str, now: str) -> Strength:
        if was == now or was not in weakest_first or now not in weakest_first:
            return equal_or_not(was, now)
        return by_number(weakest_first.index(was), weakest_first.index(now))

    return compare


def by_number(was: float, now: float) -> Strength:
    """The higher the stricter."""
    if was == now:
        return Strength.EQUAL
    return Strength.STRONGER if now > was else Strength.WEAKER


def measured(strictness: Callable[[str], float | None]) -> Compare:
    """Values that come to a number, higher is stricter; one that comes to none compares with nothing."""

    def compare(was: str, now: str) -> Strength:
        old, new = strictness(was), strictness(now)
        return equal_or_not(was, now) if old is None or new is None else by_number(old, new)

    return compare


def fewer(was: Sequence[str], now: Sequence[str]) -> Strength:
    """Sets of what is let in or offered: a part of it is stricter."""
    old, new = set(was), set(now)
    if old == new:
        return Strength.EQUAL
    if new < old:
        return Strength.STRONGER
    return Strength.WEAKER if old < new else Strength.INCOMPARABLE
