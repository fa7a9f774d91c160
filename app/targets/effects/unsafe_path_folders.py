"""The folders of PATH in which another account could put a program that root would run."""

import re
from collections.abc import Iterable, Iterator

from app.syntax.shell_assignments import Assignment

_SAFE = re.compile(r"/(?:usr|bin|sbin|opt|snap|var/lib/snapd)(?:/(?!\.\.?(?:/|$))[\w.+@-]+)*/?", re.ASCII)
"""Folders that only root writes to."""
_ITSELF = re.compile(r"\$(?:PATH|1)\b|\$\{(?:PATH|1)(?::[-+=?][^{}]*(?:\{[^{}]*\})?[^{}]*)?\}")
_HERE = "$PATH"


def find_unsafe_path_parts(assignments: Iterable[Assignment]) -> list[str]:
    """Return what is unsafe in assignments of PATH, each once: relative or unknown folders, or no system folder."""
    return sorted({found for one in assignments if one.name == "PATH" for found in _list_unsafe_parts(one)})


def _list_unsafe_parts(assignment: Assignment) -> Iterator[str]:
    if assignment.readonly:
        yield "a PATH that later scripts cannot change"
    if assignment.unset:
        yield "no PATH at all"
    if assignment.unset or not assignment.stated:
        return
    added = assignment.value.removeprefix("PATH+=")
    whole = _ITSELF.sub(_spell_path_reference, added.replace('"', "").replace("'", ""))
    parts = whole.split(":")
    parts = parts[1:] if added != assignment.value and not parts[0] else parts  # `PATH+=:/usr/local/bin`
    yield from (part or "an empty folder" for part in parts if part != _HERE and not _SAFE.fullmatch(part))
    if added == assignment.value and not {_HERE, "/usr/bin", "/bin"} & set(parts):
        yield f"no /usr/bin in {assignment.value}"


def _spell_path_reference(match: re.Match[str]) -> str:
    """Return $PATH with the colon that `${PATH:+:$PATH}` has in front of it, or behind."""
    return f"{':' * (':+:' in match[0])}{_HERE}{':' * match[0].endswith(':}')}"
