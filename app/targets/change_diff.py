"""Render a change as a diff for people and for the log: redacted, cleaned and bounded."""

import difflib
from collections.abc import Iterable, Mapping, Sequence

from app.events.event_field_types import AnyAction
from app.resources.vendor_script import format_vendor_scripts_for_review
from app.syntax import host_text
from app.syntax.host_files_protocol import FileState
from app.targets.files_that_roles_may_see import NO_NEED, SECRETIVE, has_edit_judge, is_read_restricted
from app.targets.resources.resource_dry_run import DryRun
from app.targets.simulated_file_owners import ROOT
from app.text.clean import clean_text
from app.text.redaction import is_secret_path, redact_secrets

CONTEXT, AROUND = 3, 12
"""Unchanged lines before and after a change: in the diff that is judged, and in the one that a large page shows."""
_LONGEST_LINE = 400
_MOST = 32 * 1024
_NOT_THERE = "absent"
_OPEN_END = "\\ No newline at end of file"


def render_change(
    actions: Sequence[AnyAction],
    foreseen: DryRun,
    before: Mapping[str, FileState | None],
    after: Mapping[str, FileState],
    context: int = CONTEXT,
) -> str:
    """Return the whole change as text. A preview and an applied change give the same text."""
    return (
        format_vendor_scripts_for_review(actions)
        + render_resource_diff(foreseen)
        + render_file_diffs(before, {**after, **foreseen.files}, context)
    )


def render_file_diffs(
    before: Mapping[str, FileState | None], after: Mapping[str, FileState], context: int = CONTEXT
) -> str:
    text = "".join(_render_file_diff(path, before.get(path), state, context) for path, state in after.items())
    if len(text) <= _MOST:
        return text
    return f"{text[:_MOST]}\n… {len(text) - _MOST} more characters are not shown\n"


def render_resource_diff(foreseen: DryRun) -> str:
    """Return the changes of packages, units, mounts and accounts, in the host's own words."""
    lines = (
        line
        for one in foreseen.states
        for line in (f"resource {one.name}", f"-{one.before or _NOT_THERE}", f"+{one.after or _NOT_THERE}")
    )
    return "".join(f"{clean_text(line, _LONGEST_LINE)}\n" for line in lines)


def _render_file_diff(path: str, before: FileState | None, after: FileState, context: int) -> str:
    text = "".join(f"{clean_text(line, _LONGEST_LINE)}\n" for line in _iterate_diff_lines(path, before, after, context))
    return redact_secrets(text, from_restricted_file=is_read_restricted((before or after).mode))


def _iterate_diff_lines(path: str, before: FileState | None, after: FileState, context: int) -> Iterable[str]:
    yield f"diff a{path} b{path}"
    if before is None:
        yield f"new file mode {after.mode:04o}"
        yield from () if after.owner == ROOT else (f"new file owner {after.owner}",)
    else:
        sides = (("mode", f"{before.mode:04o}", f"{after.mode:04o}"), ("owner", before.owner, after.owner))
        for what, was, now in sides:
            if was != now:
                yield f"old {what} {was}"
                yield f"new {what} {now}"
    old, new = (b"" if before is None else before.content), after.content
    if old == new:
        return
    if is_secret_path(path) or not has_edit_judge(path):
        yield f"content differs; {SECRETIVE if is_secret_path(path) else NO_NEED}"
        return
    name = "/dev/null" if before is None else f"a{path}"
    yield from difflib.unified_diff(
        _split_lines_marking_open_end(old), _split_lines_marking_open_end(new), name, f"b{path}", n=context, lineterm=""
    )


def _split_lines_marking_open_end(content: bytes) -> list[str]:
    lines = host_text.decode_bytes(content).split("\n")
    if lines[-1] == "":
        return lines[:-1]
    return [*lines, _OPEN_END]
