"""Derives line edits from an attempt's changes, so that other tools can repeat them without Temper."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal, assert_never

from app.errors import ActionFailed
from app.events import event_field_types
from app.events.kinds import ActionApplied
from app.syntax.host_files_protocol import FileState
from app.targets.planned_file_states import compute_changed_file_states
from app.text.secret_patterns import GONE

_TRAIL = " \t\r"
_HEADER = re.compile(r"diff a(/.*) b\1")
_OPEN_END = "\\ No newline at end of file"
_CUT = "…"
_ONE_A_LINE = (
    *("/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/*.conf", "/etc/login.defs", "/etc/audit/auditd.conf"),
    *("/etc/security/pwquality.conf", "/etc/security/pwquality.conf.d/*.conf", "/etc/security/faillock.conf"),
)
"""Files with one option per line, its key first."""


class NotRecorded(Exception):
    """The log does not contain what is needed to repeat the change."""


@dataclass(frozen=True)
class PlaybookEdit:
    do: Literal["replace", "remove", "insert", "write", "mode"]
    path: str
    old: str = ""
    new: str = ""
    """The new line, or the whole content of a written file."""
    states: str = ""
    """A pattern for any line that sets the same option."""
    after: str = ""
    """The line to insert after; empty for the end of the file."""
    mode: str = ""
    later: tuple[str, ...] = ()
    """Later versions of the new line, by other rules of the same run."""
    passing: bool = False
    """True if another rule of the same run removed the new line or rewrote the file."""
    behind: bool = False
    """True if it is inserted after a line that an earlier edit adds."""


class _NoFiles:
    """A host without files."""

    def read(self, _path: str) -> bytes | None:
        return None

    def state(self, _path: str) -> FileState | None:
        return None

    def glob(self, _pattern: str) -> list[str]:
        return []

    def is_folder(self, _path: str) -> bool:
        return False


def derive_edits(actions: Sequence[event_field_types.AnyAction], applied: ActionApplied) -> tuple[PlaybookEdit, ...]:
    """Return the edits in the order of the changed paths; raise NotRecorded if the log lacks something."""
    found: list[PlaybookEdit] = []
    for change in applied.changes:
        ours = [one for one in actions if isinstance(one, event_field_types.FileAction) and one.path == change.path]
        if not ours:
            raise NotRecorded(f"the record has no action for {change.path}")
        found += _derive_path_edits(change.path, ours, applied.diff, is_new_file=change.before is None)
    return tuple(mark_inserts_after_added_lines(found))


def mark_inserts_after_added_lines(edits: Sequence[PlaybookEdit]) -> Iterator[PlaybookEdit]:
    for at, edit in enumerate(edits):
        ours = {(one.path, one.new) for one in edits[:at] if one.do in ("replace", "insert")}
        yield replace(edit, behind=edit.do == "insert" and (edit.path, edit.after) in ours)


def _derive_path_edits(
    path: str, actions: Sequence[event_field_types.FileAction], diff: str, *, is_new_file: bool
) -> list[PlaybookEdit]:
    if is_new_file or isinstance(actions[0], event_field_types.WriteFile):
        return [_derive_whole_file_edit(path, actions)]
    if any(isinstance(one, event_field_types.SetOption | event_field_types.WriteFile) for one in actions):
        keys = [one.key for one in actions if isinstance(one, event_field_types.SetOption)]
        modes = [
            PlaybookEdit("mode", path, mode=one.mode) for one in actions if isinstance(one, event_field_types.Chmod)
        ]
        return [*_derive_all_diff_edits(path, diff, keys), *modes]
    return [_to_file_edit(one) for one in actions]


def _derive_whole_file_edit(path: str, actions: Sequence[event_field_types.FileAction]) -> PlaybookEdit:
    try:
        state = compute_changed_file_states(actions, _NoFiles())[path]
        return PlaybookEdit("write", path, new=state.content.decode(), mode=f"{state.mode:04o}")
    except (ActionFailed, KeyError, UnicodeDecodeError) as exc:
        raise NotRecorded(f"the record does not hold all of {path}") from exc


def _to_file_edit(action: event_field_types.FileAction) -> PlaybookEdit:
    match action:
        case event_field_types.ReplaceLine():
            return PlaybookEdit("replace", action.path, action.old, action.new)
        case event_field_types.RemoveLine():
            return PlaybookEdit("remove", action.path, action.line)
        case event_field_types.AppendLine():
            return PlaybookEdit("insert", action.path, new=action.line)
        case event_field_types.Chmod():
            return PlaybookEdit("mode", action.path, mode=action.mode)
        case event_field_types.SetOption() | event_field_types.WriteFile():
            raise NotRecorded(f"{action.path} is changed in a way that the record does not hold line by line")
        case _:
            assert_never(action)


def build_option_pattern(path: str, key: str) -> str:
    """Return a pattern for lines that set `key`; empty if the file does not have one option per line."""
    simple = any(fnmatchcase(path, one) and path.count("/") == one.count("/") for one in _ONE_A_LINE)
    return f"^[ \t]*{key}([ \t]*=|[ \t])" if simple and re.fullmatch(r"[A-Za-z0-9_]+", key) else ""


def _derive_all_diff_edits(path: str, diff: str, keys_for_option_patterns: Iterable[str]) -> list[PlaybookEdit]:
    known = [pattern for key in keys_for_option_patterns if (pattern := build_option_pattern(path, key))]
    found = list(_convert_diff_to_edits(path, diff, known))
    again = {edit.new.rstrip(_TRAIL) for edit in found if edit.states}
    # A second line equal to the new one may stay.
    found = [edit for edit in found if edit.do != "remove" or edit.old.rstrip(_TRAIL) not in again]
    if {edit.new.rstrip(_TRAIL) for edit in found if edit.new} & {edit.old.rstrip(_TRAIL) for edit in found}:
        raise NotRecorded(f"a line of {path} changed its place")
    return found


def _convert_diff_to_edits(path: str, diff: str, option_patterns: Sequence[str]) -> Iterator[PlaybookEdit]:
    for gone, fresh, above, at_end in _split_diff_blocks(path, diff):
        # Equal lines get the same replacement.
        removed = list(dict.fromkeys(line.rstrip(_TRAIL) for line in gone))
        for old, new in zip(removed, fresh, strict=False):
            yield PlaybookEdit("replace", path, old, new, _get_option_pattern_or_empty(option_patterns, new))
        for old in removed[len(fresh) :]:
            yield PlaybookEdit("remove", path, old)
        anchors = [above, *fresh]
        for at in range(len(removed), len(fresh)):
            if not at_end and not anchors[at].strip():
                raise NotRecorded(f"{path} has nothing that says where {fresh[at]!a} goes")
            yield PlaybookEdit("insert", path, new=fresh[at], after="" if at_end else anchors[at])


def _get_option_pattern_or_empty(known: Sequence[str], line: str) -> str:
    return next((one for one in known if re.match(one, line, re.IGNORECASE)), "")


def _split_diff_blocks(path: str, diff: str) -> Iterator[tuple[list[str], list[str], str, bool]]:
    """Yield removed lines, added lines, the line above them, and whether the block ends the diff."""
    removed: list[str] = []
    fresh: list[str] = []
    above = ""
    for line in _iterate_hunk_lines_of_file(path, diff):
        kind, text = line[:1], line[1:]
        if text == _OPEN_END:
            continue
        if kind in "-+" and (GONE in text or text.endswith(_CUT)):
            raise NotRecorded(f"what changed in {path} is not all on record, since it holds a secret or is too long")
        if kind == "-":
            removed.append(text)
        elif kind == "+":
            fresh.append(text)
        else:
            if removed or fresh:
                yield removed, fresh, above, False
                above, removed, fresh = fresh[-1] if fresh else above, [], []
            above = "" if kind == "@" else text if text.strip() else above
    if removed or fresh:
        yield removed, fresh, above, True


def _iterate_hunk_lines_of_file(path: str, diff: str) -> Iterator[str]:
    """Yield the hunks of one file, with "@" at the start of each; raise NotRecorded if the diff is cut in them."""
    ours = body = ended = False
    for line in diff.split("\n"):
        if header := _HEADER.fullmatch(line):
            ended = ended or ours
            ours, body = header[1] == path, False
        elif line.startswith(_CUT) and not ended:
            raise NotRecorded(f"what changed in {path} is not all on record, since it is too long")
        elif ours and line.startswith("@@ "):
            body = True
            yield "@"
        elif ours and body and line[:1] in (" ", "-", "+"):
            yield line


def apply_edit(text: str, edit: PlaybookEdit) -> str:
    """Return the text after an edit, as the role and the script would make it."""
    if edit.do == "write":
        return edit.new
    lines = text.split("\n")
    if edit.do == "replace":
        return "\n".join(edit.new if _is_equal_without_trailing_blanks(line, edit.old) else line for line in lines)
    if edit.do == "remove":
        return "\n".join(line for line in lines if not _is_equal_without_trailing_blanks(line, edit.old))
    if edit.do == "mode" or any(_is_equal_without_trailing_blanks(line, edit.new) for line in lines):
        return text
    at = [
        number
        for number, line in enumerate(lines)
        if edit.after and _is_equal_without_trailing_blanks(line, edit.after)
    ]
    if at:
        return "\n".join([*lines[: at[-1] + 1], edit.new, *lines[at[-1] + 1 :]])
    return text + ("" if not text or text.endswith("\n") else "\n") + f"{edit.new}\n"


def _is_equal_without_trailing_blanks(line: str, other: str) -> bool:
    return line.rstrip(_TRAIL) == other.rstrip(_TRAIL)


def fold_later_edits_unless_undone(edit: PlaybookEdit, later: Iterable[PlaybookEdit]) -> PlaybookEdit | None:
    """Return the edit combined with later edits of the run, so that repeating it is safe; None if it was undone."""
    for one in later:
        if one.path != edit.path:
            continue
        if edit.do == "write":
            edit = replace(edit, new=apply_edit(edit.new, one), mode=one.mode or edit.mode)
        elif edit.do == "mode":
            edit = replace(edit, mode=one.mode or edit.mode)
        elif edit.do == "remove":
            fresh = one.new.split("\n") if one.do in ("insert", "replace", "write") else []
            if any(_is_equal_without_trailing_blanks(line, edit.old) for line in fresh):
                return None
        elif one.do == "write":
            edit = replace(edit, passing=True)
        elif one.do in ("remove", "replace") and _is_equal_without_trailing_blanks(
            one.old, edit.later[-1] if edit.later else edit.new
        ):
            edit = replace(edit, passing=True) if one.do == "remove" else replace(edit, later=(*edit.later, one.new))
    return None if edit.do == "insert" and edit.passing else edit
