"""The effect of an action on one file, as its judge sees it."""

import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.resources import kind
from app.syntax.host_files_protocol import Files

Objection = kind.Objection

_MOST_PAIRS = 500_000
"""The cost of a comparison is the product of both lengths; a hostile answer could make it minutes."""


@dataclass(frozen=True)
class FileEdit:
    path: str
    before: str
    after: str | None
    """None if the effect cannot be computed; `added` and `removed` are then the action's own text."""
    added: tuple[str, ...]
    removed: tuple[str, ...]
    """In order; a moved line is in both."""
    mode_before: int | None
    mode_after: int | None
    files: Files
    """The host's files before the action."""
    lines: tuple[str, ...]
    """The lines that the action adds, in its own text."""
    judge: "Judge"
    failure: str = ""
    """Why the effect cannot be computed."""

    @property
    def has_line_changes(self) -> bool:
        return bool(self.added or self.removed)

    def create_unknown_objection(self, line: str) -> Objection:
        reason = f"{self.path}: {line.strip()!r} is not among the settings that may be changed."
        return Objection("not understood", reason)

    def create_weakening_objection(self, line: str) -> Objection:
        return Objection("weakening", f"{self.path}: {line.strip()!r} would make the host weaker than it is.")


Judge = Callable[[FileEdit], Objection | None]


def list_added_and_removed_lines(before: str, after: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the added and the removed lines. Texts too long to compare count as replaced."""
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
    """Return True if the remaining lines have kept their order."""
    known = set(before)
    waiting = iter(before)
    return all(line in waiting for line in after if line in known)


def is_content_line(line: str) -> bool:
    """Return True for lines that are neither blank nor a comment. An indented # may continue a value."""
    return bool(line.strip(" \t")) and not line.startswith("#")
