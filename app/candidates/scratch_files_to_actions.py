"""A host's files as tasks change them one after the other, and the typed actions that lead to the same result."""

import difflib
from collections.abc import Iterator

from app.errors import TemperError
from app.events.event_field_types import AnyAction, AppendLine, Chmod, RemoveLine, ReplaceLine, WriteFile
from app.syntax import host_text
from app.syntax.host_files_protocol import Files, FileState
from app.targets.overlay import Overlay
from app.targets.planned_effects_of_actions import MOST_ACTIONS
from app.targets.planned_file_states import compute_changed_file_states
from app.targets.simulated_file_owners import ROOT
from app.targets.subjects.stated_setting_file_families import find_stated_family

_NEW_MODE = 0o644
_MOST_CONTENT = 8192


class Undecidable(TemperError):
    """What these tasks would do cannot be told from the host's files."""


class ScratchFiles:
    def __init__(self, files: Files) -> None:
        self._files = files
        self._changed: dict[str, FileState] = {}

    @property
    def now(self) -> Files:
        return Overlay(self._files, self._changed)

    def read_text(self, path: str) -> str | None:
        return host_text.read_text(self.now, path)

    def write_text(self, path: str, text: str) -> bool:
        """Write the file; return True if that changes it."""
        before = self.now.state(path)
        content = host_text.encode_text(text)
        if before is not None and before.content == content:
            return False
        family = find_stated_family(path)
        new = int(family.mode, 8) if family else _NEW_MODE
        mode, owner = (before.mode, before.owner) if before else (new, ROOT)
        self._changed[path] = FileState(content, mode, owner)
        return True

    def write_state(self, path: str, state: FileState) -> None:
        """Write the file with its mode and its owner."""
        self._changed[path] = state

    def change_mode(self, path: str, mode: int) -> bool:
        """Set the permission bits of a file that is there; return True if that changes it."""
        before = self.now.state(path)
        if before is None or before.mode == mode:
            return False
        self._changed[path] = FileState(before.content, mode, before.owner)
        return True

    def derive_actions(self) -> list[AnyAction]:
        """Return typed actions with the same result, checked by planning them. Raises Undecidable."""
        wanted = {path: state for path, state in self._changed.items() if state != self._files.state(path)}
        actions = [action for path, state in wanted.items() for action in self._derive_file_actions(path, state)]
        try:
            made = compute_changed_file_states(actions, self._files)
        except TemperError as exc:
            raise Undecidable(f"No typed action makes this change: {exc}") from exc
        if made != wanted:
            raise Undecidable("Typed actions would make another change than the tasks.")
        return actions

    def _derive_file_actions(self, path: str, wanted: FileState) -> Iterator[AnyAction]:
        before = self._files.state(path)
        text = host_text.decode_bytes(wanted.content)
        if before is None:
            yield _create_write_action(path, text, wanted.mode)
            return
        if before.content != wanted.content:
            lines = _propose_line_actions(path, host_text.decode_bytes(before.content), text)
            if len(lines) <= MOST_ACTIONS and _has_planned_content(lines, wanted.content, self._files, path):
                yield from lines
            else:
                yield _create_write_action(path, text, wanted.mode)
                return
        if before.mode != wanted.mode:
            yield Chmod(path=path, mode=f"{wanted.mode:04o}")


def _create_write_action(path: str, text: str, mode: int) -> WriteFile:
    if len(text) > _MOST_CONTENT:
        raise Undecidable(f"{path} would have to be written whole, and is longer than {_MOST_CONTENT} characters.")
    return WriteFile(path=path, content=text, mode=f"{mode:04o}")


def _propose_line_actions(path: str, before: str, after: str) -> list[AnyAction]:
    """Return replaced, removed and appended lines; what they cannot express comes out as another result."""
    old, new = before.split("\n"), after.split("\n")
    actions: list[AnyAction] = []
    for word, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if word == "equal":
            continue
        gone, come = old[start:end], new[new_start:new_end]
        paired = min(len(gone), len(come))
        actions += [
            ReplaceLine(path=path, old=was, new=now) for was, now in zip(gone[:paired], come[:paired], strict=True)
        ]
        actions += [RemoveLine(path=path, line=line) for line in gone[paired:]]
        actions += [AppendLine(path=path, line=line) for line in come[paired:]]
    return actions


def _has_planned_content(actions: list[AnyAction], content: bytes, files: Files, path: str) -> bool:
    try:
        made = compute_changed_file_states(actions, files).get(path)
    except TemperError:
        return False
    return made is not None and made.content == content
