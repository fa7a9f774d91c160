"""Compute the edit that an action makes to its file."""

from app.errors import ActionFailed
from app.events.vocabulary import AppendLine, Chmod, FileAction, RemoveLine, ReplaceLine, SetOption, WriteFile
from app.syntax import host_text
from app.syntax.files import Files, FileState
from app.targets.file_changes import plan_changes
from app.targets.subjects.file_edit import FileEdit, diff_lines


def compute_edit(action: FileAction, files: Files) -> tuple[FileEdit, FileState | None]:
    """Return the edit and the new state of the file; None if nothing changes or the action fails."""
    state = files.state(action.path)
    before, mode = (host_text.decode_bytes(state.content), state.mode) if state else ("", None)
    try:
        after = plan_changes([action], files).get(action.path, state)
    except ActionFailed:
        removed = _list_removed_lines(action)
        edit = FileEdit(
            action.path, before, None, list_new_lines(action), removed, mode, _get_new_mode(action, mode), files
        )
        return edit, None
    text, new_mode = (host_text.decode_bytes(after.content), after.mode) if after else ("", None)
    added, removed = diff_lines(before, text)
    return FileEdit(action.path, before, text, added, removed, mode, new_mode, files), after


def list_new_lines(action: FileAction) -> tuple[str, ...]:
    """Return the lines that the action adds, in its own text."""
    match action:
        case SetOption():
            return (f"{action.key} = {action.value}",)
        case ReplaceLine():
            return (action.new,)
        case AppendLine():
            return (action.line,)
        case WriteFile():
            return tuple(action.content.split("\n"))
    return ()


def _list_removed_lines(action: FileAction) -> tuple[str, ...]:
    match action:
        case ReplaceLine():
            return (action.old,)
        case RemoveLine():
            return (action.line,)
    return ()


def _get_new_mode(action: FileAction, before: int | None) -> int | None:
    return int(action.mode, 8) if isinstance(action, Chmod | WriteFile) else before
