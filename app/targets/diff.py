"""Render a change as a diff for people and for the log: redacted, cleaned and bounded."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from app.events.words import AnyAction
from app.syntax import source
from app.syntax.files import FileState
from app.targets.readable import NO_NEED, SECRETIVE, is_closed, judged
from app.targets.resources import vendor
from app.targets.resources.foreseen import DryRun
from app.text.clean import clean
from app.text.secrets import keeps_secrets, redacted

_LONGEST_LINE = 400
_MOST = 32 * 1024
_NOT_THERE = "absent"
_OPEN_END = "\\ No newline at end of file"


def shown(
    actions: Sequence[AnyAction],
    foreseen: DryRun,
    before: Mapping[str, FileState | None],
    after: Mapping[str, FileState],
) -> str:
    """Return the whole change as text. A preview and an applied change give the same text."""
    return vendor.shown(actions) + resources(foreseen) + unified(before, {**after, **foreseen.files})


def unified(before: Mapping[str, FileState | None], after: Mapping[str, FileState]) -> str:
    text = "".join(_told(path, before.get(path), state) for path, state in after.items())
    if len(text) <= _MOST:
        return text
    return f"{text[:_MOST]}\n… {len(text) - _MOST} more characters are not shown\n"


def resources(foreseen: DryRun) -> str:
    """Return the changes of packages, units, mounts and accounts, in the host's own words."""
    lines = (
        line
        for one in foreseen.states
        for line in (f"resource {one.name}", f"-{one.before or _NOT_THERE}", f"+{one.after or _NOT_THERE}")
    )
    return "".join(f"{clean(line, _LONGEST_LINE)}\n" for line in lines)


def _told(path: str, before: FileState | None, after: FileState) -> str:
    text = "".join(f"{clean(line, _LONGEST_LINE)}\n" for line in _file(path, before, after))
    return redacted(text, closed=is_closed((before or after).mode))


def _file(path: str, before: FileState | None, after: FileState) -> Iterable[str]:
    yield f"diff a{path} b{path}"
    if before is None:
        yield f"new file mode {after.mode:04o}"
    elif before.mode != after.mode:
        yield f"old mode {before.mode:04o}"
        yield f"new mode {after.mode:04o}"
    old, new = (b"" if before is None else before.content), after.content
    if old == new:
        return
    if keeps_secrets(path) or not judged(path):
        yield f"content differs; {SECRETIVE if keeps_secrets(path) else NO_NEED}"
        return
    name = "/dev/null" if before is None else f"a{path}"
    yield from difflib.unified_diff(_lines(old), _lines(new), name, f"b{path}", lineterm="")


def _lines(content: bytes) -> list[str]:
    lines = source.decode(content).split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines, _OPEN_END]
