"""A file as a role is shown it: its lines by their number, those first that the rule speaks of."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from app.syntax import source
from app.targets.readable import ABSENT, Followed, is_closed, why_not
from app.text.clean import clean
from app.text.secrets import redacted

LONGEST_LINE = 400
"""Characters. A line beyond that is shown to its cut, and is not offered to be replaced."""


@dataclass(frozen=True)
class ShownFile:
    path: str
    why_not: str = ""
    """Why there is nothing to show; empty where there is."""
    lines: dict[int, str] = field(default_factory=dict)
    """As they are told, by their number from 1."""
    whole: dict[int, str] = field(default_factory=dict)
    """Of these, the ones that are told as they stand in the file: they can be named by their number."""

    cut: bool = False
    """There are lines that are not shown."""

    @property
    def absent(self) -> bool:
        return self.why_not == ABSENT

    def text(self) -> str:
        return f"({self.why_not})" if self.why_not else "\n".join(f"{n}: {line}" for n, line in self.lines.items())


def shown(path: str, files: Followed, named: Iterable[str], words: Collection[str], limit: int) -> ShownFile:
    """`words` are the rule's own, `limit` the characters that the lines may take."""
    if why := why_not(path, files, named):
        return ShownFile(path, why)
    content, state = files.read(path), files.state(path)
    if content is None or state is None:
        return ShownFile(path, ABSENT)
    raw = source.decode(content)
    told = redacted(raw, closed=is_closed(state.mode)).split("\n")
    stands = raw.split("\n")
    lines = {n: clean(line, LONGEST_LINE) for n, line in enumerate(told, 1) if line.strip()}
    kept = {n: lines[n] for n in _that_fit(lines, words, limit)}
    whole = {}
    if len(told) == len(stands):  # what is taken out of a text may take lines with it
        whole = {n: line for n, line in kept.items() if line.rstrip() == stands[n - 1].rstrip(source.TRAIL)}
    return ShownFile(path, "", kept, whole, cut=len(whole) < len(lines))


def _that_fit(lines: dict[int, str], words: Collection[str], limit: int) -> list[int]:
    """Lines that name what the rule names, then those in force, then comments; told in their own order."""

    def weight(n: int) -> int:
        said = source.fold(lines[n])
        return 0 if any(word in said for word in words) else 1 + lines[n].lstrip().startswith("#")

    chosen, room = [], limit
    for n in sorted(lines, key=weight):
        room -= len(lines[n]) + 6
        if room < 0:
            break
        chosen.append(n)
    return sorted(chosen)
