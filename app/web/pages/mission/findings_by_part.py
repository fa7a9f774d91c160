"""A ribbon of many findings, grouped by the part of the system that they are about."""

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import msgspec

from app.loop.state import Item
from app.skills.skill import Rule
from app.web.pages.mission.progress import ENDED_STATUSES

MOST_CELLS = 40
"""More findings than this are grouped, and their cells are small."""
ROWS = 2

_PARTS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, str])
_WORDS = {name: re.compile(words, re.IGNORECASE) for name, words in _PARTS.items()}


@dataclass(frozen=True)
class RibbonPart:
    name: str
    items: tuple[Item, ...]

    @property
    def done(self) -> int:
        return sum(item.status in ENDED_STATUSES for item in self.items)

    @property
    def columns(self) -> int:
        return -(-len(self.items) // ROWS)


def list_parts_if_many_items(items: Collection[Item], rules: Mapping[str, Rule]) -> tuple[RibbonPart, ...]:
    """Return the items by part, or nothing if each can have a cell of its own."""
    if len(items) <= MOST_CELLS:
        return ()
    parts: dict[str, list[Item]] = {}
    for item in items:
        parts.setdefault(find_part_of_rule(rules.get(item.rule)), []).append(item)
    order = [name for name in (*_WORDS, "Other") if name in parts]
    return tuple(RibbonPart(name, tuple(parts[name])) for name in order)


def find_part_of_rule(rule: Rule | None) -> str:
    if rule is None:
        return "Other"
    return _match_part_name_or_empty((*rule.paths, rule.id)) or _match_part_name_or_empty((rule.title,)) or "Other"


def _match_part_name_or_empty(texts: Iterable[str]) -> str:
    text = " ".join(texts)
    return next((name for name, words in _WORDS.items() if words.search(text)), "")
