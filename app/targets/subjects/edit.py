"""What an action would do to one file, as those who judge it see it."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.syntax.files import Files

_MOST_PAIRS = 500_000
"""Comparing takes the product of both lengths; a hostile answer would make it minutes."""


@dataclass(frozen=True)
class Objection:
    clause: str
    reason: str


@dataclass(frozen=True)
class Edit:
    path: str
    before: str
    after: str | None
    """None when the effect could not be worked out; then `added` and `removed` are the action's own words."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """In order: a line that moves is both removed and added."""
    mode_before: int | None
    mode_after: int | None
    files: Files
    """The host ahead of the action."""

    @property
    def rewrites(self) -> bool:
        return bool(self.added or self.removed)


Judge = Callable[[Edit], Objection | None]


def difference(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Lines added and lines removed. Of texts too long to compare, all."""
    old, new = before.split("\n"), after.split("\n")
    if len(old) * len(new) > _MOST_PAIRS:
        return tuple(new), tuple(old)
    added: list[str] = []
    removed: list[str] = []
    for word, old_from, old_to, new_from, new_to in difflib.SequenceMatcher(
        None, old, new, autojunk=False
    ).get_opcodes():
        if word != "equal":
            removed += old[old_from:old_to]
            added += new[new_from:new_to]
    return tuple(added), tuple(removed)


def keeps_order(before: Sequence[str], after: Sequence[str]) -> bool:
    """Of the lines that stay, none has come to stand ahead of another that it stood behind."""
    known = set(before)
    waiting = iter(before)
    return all(line in waiting for line in after if line in known)


def is_live(line: str) -> bool:
    """Neither blank nor a comment in any of the syntaxes here. An indented # is none: it may continue a value."""
    return bool(line.strip(" \t")) and not line.startswith("#")


def not_understood(path: str, line: str) -> Objection:
    return Objection("not understood", f"{path}: {line.strip()!r} is not among the settings that may be changed.")


def weakening(path: str, line: str) -> Objection:
    return Objection("weakening", f"{path}: {line.strip()!r} would make the host weaker than it is.")
