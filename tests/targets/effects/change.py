"""A change as a whole, put before every program whose files it touches."""

from collections.abc import Mapping

from app.targets.effects.weakened_setting_search import find_weakening_or_excess_objection
from tests.hostfiles import DictFiles


def lost(before: Mapping[str, str], after: Mapping[str, str], *asks: str) -> str:
    """What would be weaker by it, in words; nothing where nothing would."""
    whole = {**before, **after}
    found = find_weakening_or_excess_objection(list(after), DictFiles(dict(before)), DictFiles(whole), frozenset(asks))
    return found.reason if found else ""
