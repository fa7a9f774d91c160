"""Strength: the result of comparing two values of a setting, and functions that create comparisons."""

from collections.abc import Callable, Sequence
from enum import Enum


class Strength(Enum):
    STRONGER = "stronger"
    EQUAL = "equal"
    WEAKER = "weaker"
    INCOMPARABLE = "incomparable"


Compare = Callable[[str, str], Strength]
"""Returns the strength of the second value relative to the first."""


def compare_unranked(was: str, now: str) -> Strength:
    """Compare unranked values: any other value may be weaker."""
    return Strength.EQUAL if was == now else Strength.INCOMPARABLE


def create_ranking(*weakest_first: str) -> Compare:
    """Return a comparison of words listed from weakest to strictest; unknown words do not compare."""

    def compare(was: str, now: str) -> Strength:
        if was == now or was not in weakest_first or now not in weakest_first:
            return compare_unranked(was, now)
        return compare_numbers(weakest_first.index(was), weakest_first.index(now))

    return compare


def compare_numbers(was: float, now: float) -> Strength:
    """Compare numbers; higher is stricter."""
    if was == now:
        return Strength.EQUAL
    return Strength.STRONGER if now > was else Strength.WEAKER


def create_measure(strictness: Callable[[str], float | None]) -> Compare:
    """Return a comparison by a number, higher is stricter; values without a number do not compare."""

    def compare(was: str, now: str) -> Strength:
        old, new = strictness(was), strictness(now)
        return compare_unranked(was, now) if old is None or new is None else compare_numbers(old, new)

    return compare


def compare_sets(was: Sequence[str], now: Sequence[str]) -> Strength:
    """Compare sets of allowed things; a subset is stricter."""
    old, new = set(was), set(now)
    if old == new:
        return Strength.EQUAL
    if new < old:
        return Strength.STRONGER
    return Strength.WEAKER if old < new else Strength.INCOMPARABLE
