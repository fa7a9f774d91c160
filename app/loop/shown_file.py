"""Shows files to roles: numbered lines, those that the rule mentions first."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from app.syntax import host_text
from app.targets.files_that_roles_may_see import ABSENT, LinkFollowingFiles, explain_withholding, is_read_restricted
from app.text.clean import clean_text
from app.text.redaction import redact_secrets

LONGEST_LINE = 400
"""Longer lines are cut and cannot be replaced."""


@dataclass(frozen=True)
class ShownFile:
    path: str
    why_not: str = ""
    """Why the file is not shown; empty if it is."""
    lines: dict[int, str] = field(default_factory=dict)
    """Lines as shown, by number from 1."""
    whole: dict[int, str] = field(default_factory=dict)
    """Lines shown exactly as they are in the file, which answers may name by number."""

    cut: bool = False
    """Some lines are not shown."""

    @property
    def is_absent(self) -> bool:
        return self.why_not == ABSENT

    def text(self) -> str:
        return f"({self.why_not})" if self.why_not else "\n".join(f"{n}: {line}" for n, line in self.lines.items())


def show_file(
    path: str,
    files: LinkFollowingFiles,
    rule_paths: Iterable[str],
    folded_rule_words: Collection[str],
    max_characters: int,
) -> ShownFile:
    """Return the file as shown. `folded_rule_words` are the rule's; `max_characters` is the maximum of characters."""
    if why := explain_withholding(path, files, rule_paths):
        return ShownFile(path, why)
    content, state = files.read(path), files.state(path)
    if content is None or state is None:
        return ShownFile(path, ABSENT)
    raw = host_text.decode_bytes(content)
    redacted = redact_secrets(raw, from_restricted_file=is_read_restricted(state.mode)).split("\n")
    stands = raw.split("\n")
    lines = {n: clean_text(line, LONGEST_LINE) for n, line in enumerate(redacted, 1) if line.strip()}
    kept = {n: lines[n] for n in _choose_lines_within_size(lines, folded_rule_words, max_characters)}
    whole = {}
    if len(redacted) == len(stands):  # redaction may remove whole lines
        whole = {n: line for n, line in kept.items() if line.rstrip() == stands[n - 1].rstrip(host_text.TRAIL)}
    return ShownFile(path, "", kept, whole, cut=len(whole) < len(lines))


def _choose_lines_within_size(
    lines: dict[int, str], folded_rule_words: Collection[str], max_characters: int
) -> list[int]:
    """Return the numbers of the lines to show: first those with the rule's words, then active lines, then comments."""

    def rank_line(n: int) -> int:
        folded = host_text.fold_case(lines[n])
        return 0 if any(word in folded for word in folded_rule_words) else 1 + lines[n].lstrip().startswith("#")

    chosen, room = [], max_characters
    for n in sorted(lines, key=rank_line):
        room -= len(lines[n]) + 6
        if room < 0:
            break
        chosen.append(n)
    return sorted(chosen)
