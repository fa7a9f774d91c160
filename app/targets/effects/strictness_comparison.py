"""Strength: the result of comparing two values of a setting, and functions that create comparisons."""

import re
from collections.abc import Callable, Iterable
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


def create_ranked_comparison(*weakest_first: str) -> Compare:
    """Return a comparison of words listed from weakest to strictest; unknown words do not compare."""

    def compare(was: str, now: str) -> Strength:
        if was == now or was not in weakest_first or now not in weakest_first:
            return compare_unranked(was, now)
        return compare_higher_as_stricter(weakest_first.index(was), weakest_first.index(now))

    return compare


def compare_higher_as_stricter(was: float, now: float) -> Strength:
    """Compare numbers; higher is stricter."""
    if was == now:
        return Strength.EQUAL
    return Strength.STRONGER if now > was else Strength.WEAKER


def create_number_comparison(measure: Callable[[str], float | None], *, lower_is_stricter: bool = False) -> Compare:
    """Return a comparison by a number: the higher is stricter unless `lower_is_stricter`. Others do not compare."""

    def compare(was: str, now: str) -> Strength:
        old, new = measure(was), measure(now)
        if old is None or new is None:
            return compare_unranked(was, now)
        return compare_higher_as_stricter(-old, -new) if lower_is_stricter else compare_higher_as_stricter(old, new)

    return compare


def compare_allowed_sets(was: Iterable[str], now: Iterable[str]) -> Strength:
    """Compare sets of allowed things; a subset is stricter."""
    old, new = set(was), set(now)
    if old == new:
        return Strength.EQUAL
    if new < old:
        return Strength.STRONGER
    return Strength.WEAKER if old < new else Strength.INCOMPARABLE


_NUMBER = re.compile(r"-?[0-9]{1,9}")


def parse_decimal_integer(value: str) -> int | None:
    return int(value) if _NUMBER.fullmatch(value) else None


def _parse_non_positive_as_infinity(value: str) -> float | None:
    """Return the number, or infinity for 0 and less, which mean no cap."""
    found = parse_decimal_integer(value)
    return found if found is None or found > 0 else float("inf")


def _parse_zero_as_infinity(value: str) -> float | None:
    return float("inf") if (found := parse_decimal_integer(value)) == 0 else found


compare_higher = create_number_comparison(parse_decimal_integer)
compare_lower = create_number_comparison(parse_decimal_integer, lower_is_stricter=True)
compare_caps = create_number_comparison(_parse_non_positive_as_infinity, lower_is_stricter=True)
"""Lower is stricter; 0 is no cap."""
compare_durations = create_number_comparison(_parse_zero_as_infinity)
"""Higher is stricter; 0 is unlimited."""


def create_capped_higher_comparison(most: int) -> Compare:
    """Return a comparison in which higher is stricter, and more than `most` harms the host."""
    return lambda was, now: (
        Strength.INCOMPARABLE if (parse_decimal_integer(now) or 0) > most else compare_higher(was, now)
    )


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
