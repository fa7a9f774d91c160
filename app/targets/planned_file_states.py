"""Work out the files that typed actions would produce."""

from collections.abc import Sequence

from app.errors import ActionFailed, BadInput
from app.events.event_field_types import (
    AnyAction,
    AppendLine,
    Chmod,
    FileAction,
    RemoveLine,
    ReplaceLine,
    SetOption,
    WriteFile,
)
from app.syntax import host_text, option_writing_by_file_path
from app.syntax.host_files_protocol import Files, FileState
from app.targets.overlay import Overlay
from app.targets.simulated_file_owners import ROOT
from app.text.clean import clean_text

_LARGEST = 256 * 1024
_NEW_MODE = 0o644


def compute_changed_file_states(actions: Sequence[AnyAction], files: Files) -> dict[str, FileState]:
    """Return the new state of each path that the actions change; unchanged paths are left out."""
    planned: dict[str, FileState] = {}
    for action in actions:
        if isinstance(action, FileAction):
            planned[action.path] = compute_state_after_action(action, Overlay(files, planned))
    return {path: state for path, state in planned.items() if state != files.state(path)}


def compute_state_after_action(action: FileAction, files: Files) -> FileState:
    """Return the new state of the action's file; raise ActionFailed if the action cannot be made."""
    before = files.state(action.path)
    if before is not None and files.read(action.path) is None:
        raise ActionFailed(f"{action.path} is a folder; name a file.")
    if isinstance(action, WriteFile):
        owner = ROOT if before is None else before.owner
        return FileState(_encode_bounded(action.path, action.content), int(action.mode, 8), owner)
    if isinstance(action, Chmod):
        there = _require_file(action.path, before)
        return FileState(there.content, int(action.mode, 8), there.owner)
    if isinstance(action, ReplaceLine | RemoveLine):
        before = _require_file(action.path, before)
    held = before or FileState(b"", _NEW_MODE, ROOT)
    text = _edit_text(action, host_text.decode_bytes(held.content))
    return FileState(_encode_bounded(action.path, text), held.mode, held.owner)


def _edit_text(action: SetOption | ReplaceLine | RemoveLine | AppendLine, text: str) -> str:
    match action:
        case SetOption():
            try:
                return option_writing_by_file_path.set_option(action.path, text, action.key, action.value)
            except BadInput as exc:
                raise ActionFailed(str(exc)) from exc
        case ReplaceLine():
            return _replace_all_equal_lines(action.path, text, action.old, [action.new])
        case RemoveLine():
            return _replace_all_equal_lines(action.path, text, action.line, [])
        case AppendLine():
            ended = text if not text or text.endswith("\n") else f"{text}\n"
            return f"{ended}{action.line}\n"


def list_stated_added_and_removed_lines(action: FileAction) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the lines that the action adds and removes, in its own text."""
    match action:
        case SetOption():
            return (f"{action.key} = {action.value}",), ()
        case ReplaceLine():
            return (action.new,), (action.old,)
        case RemoveLine():
            return (), (action.line,)
        case AppendLine():
            return (action.line,), ()
        case WriteFile():
            return tuple(action.content.split("\n")), ()
    return (), ()


def _replace_all_equal_lines(path: str, text: str, old_line: str, new_lines: list[str]) -> str:
    """Replace each line equal to `old_line`, apart from trailing blanks, by the lines in `new_lines`."""
    bare = old_line.rstrip(host_text.TRAIL)
    lines = [(line, line.rstrip(host_text.TRAIL) == bare) for line in text.split("\n")]
    if not old_line.strip() or not any(found for _, found in lines):
        raise ActionFailed(f"{path} has no line {clean_text(old_line, 120)!r}; copy the line as it stands in the file.")
    return "\n".join(new for line, found in lines for new in (new_lines if found else [line]))


def _require_file(path: str, state: FileState | None) -> FileState:
    if state is None:
        raise ActionFailed(f"{path} is not there; write_file or append_line would make it.")
    return state


def _encode_bounded(path: str, text: str) -> bytes:
    content = host_text.encode_text(text)
    if len(content) > _LARGEST:
        raise ActionFailed(f"{path} would become larger than {_LARGEST // 1024} KiB; no configuration file is.")
    return content
