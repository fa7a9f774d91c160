"""Set an option in the global section of sshd_config, where the first value counts."""

import re

from app.errors import BadInput
from app.syntax import edit_lines, source
from app.syntax.source import fold
from app.syntax.sshd_line import comment, directive, split

_KEPT = re.compile(r"([ \t]*[^ \t=]+(?:[ \t]*=[ \t]*|[ \t]+))")


def get(text: str, key: str) -> str | None:
    lines = text.split("\n")
    found = _global_lines(lines, key)
    here = directive(lines[found[0]]) if found else None
    return None if here is None else here.value


def put(text: str, key: str, value: str) -> str:
    if fold(key) in {"match", "include"} or not written(value):
        raise BadInput("set_option gives one keyword of sshd a value; write Match and Include lines with append_line")
    lines = text.split("\n")
    found = _global_lines(lines, key)
    if found:
        keep = found[0]
        return edit_lines.put(text, _rewritten(lines[keep], value), keep, found[1:], 0)
    limit = _match_at(lines)
    at = edit_lines.below_default(text, key, limit)
    if at is None:
        at = _ahead_of_comment(lines, limit) if limit < len(lines) else edit_lines.end(text)
    return edit_lines.put(text, f"{key} {value}", None, (), at)


def written(value: str) -> str:
    """Return the value as sshd would read it back."""
    return " ".join(split(value) or ())


def _match_at(lines: list[str]) -> int:
    for index, line in enumerate(lines):
        here = directive(line)
        if here is not None and fold(here.keyword) == "match":
            return index
    return len(lines)


def _global_lines(lines: list[str], key: str) -> list[int]:
    found = []
    for index, line in enumerate(lines[: _match_at(lines)]):
        here = directive(line)
        if here is not None and fold(here.keyword) == fold(key):
            found.append(index)
    return found


def _rewritten(line: str, value: str) -> str:
    kept = _KEPT.match(line)
    start = kept[1] if kept else ""
    return f"{start}{value}{comment(line.rstrip(source.TRAIL)[len(start) :])}"


def _ahead_of_comment(lines: list[str], at: int) -> int:
    while at and lines[at - 1].startswith("#"):
        at -= 1
    while at and not lines[at - 1].strip(source.TRAIL):
        at -= 1
    return at
