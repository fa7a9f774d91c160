"""Compares algorithm lists by the weakest choice that a client could force.

An algorithm adds no risk beside one that is no stronger: an attacker could have chosen that one.
"""

from pathlib import Path

import msgspec

from app.targets.effects.strictness_comparison import Strength, compare_unranked

_LINES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, str])["rising"]
_RISING = tuple(tuple(line.split()) for line in _LINES.splitlines())
"""Each line is ordered from weaker to stronger."""


def compare_algorithms(was: str, now: str) -> Strength:
    """Compare two lists. The client sets the order; an empty list is an error and not a short list."""
    if not was or not now or was == now:
        return compare_unranked(was, now)
    old, new = was.split(","), now.split(",")
    fine, gained = _is_list_no_weaker(old, new), not _is_list_no_weaker(new, old)
    if fine:
        return Strength.STRONGER if gained else Strength.EQUAL
    return Strength.INCOMPARABLE if gained else Strength.WEAKER


def _is_list_no_weaker(old_names: list[str], new_names: list[str]) -> bool:
    return all(_list_equal_or_weaker(name) & {*old_names} for name in new_names)


def _list_equal_or_weaker(algorithm: str) -> set[str]:
    found, waiting = {algorithm}, [algorithm]
    while waiting:
        one = waiting.pop()
        below = {rising[at - 1] for rising in _RISING for at, other in enumerate(rising) if at and other == one}
        waiting += below - found
        found |= below
    return found
