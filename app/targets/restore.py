"""The files that a change writes: restored from a journal, and the result verified."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from app.errors import ActionFailed, find_storage_fault
from app.syntax.host_files_protocol import FileState
from app.targets.planned_effects_of_actions import HostFiles


class ChangeableFiles(HostFiles, Protocol):
    """Write access to a host's files. Links are never followed."""

    def require_plain_file_state_or_absence(self, path: str) -> FileState | None: ...
    def write(self, path: str, state: FileState) -> None: ...
    def remove(self, path: str) -> None: ...
    def list_missing_folders(self, path: str) -> list[str]: ...
    def make_folder(self, path: str) -> None: ...
    def remove_folder(self, path: str) -> None: ...


def restore_files_remove_folders_and_list_differences(
    tree: ChangeableFiles, before: Mapping[str, FileState | None], folders_to_remove: Sequence[str]
) -> list[str]:
    """Restore each path and return the remaining differences. Repeatable after a crash.

    A fault of this machine's storage raises ActionFailed, so that the caller can retry.
    """
    failed: dict[str, str] = {}
    for path, state in before.items():
        try:
            _restore_path(tree, path, state)
        except ActionFailed as exc:
            if find_storage_fault(exc):
                raise
            failed[path] = str(exc)
    for folder in reversed(folders_to_remove):
        try:
            tree.remove_folder(folder)
        except ActionFailed as exc:
            if find_storage_fault(exc):
                raise
            failed[folder] = str(exc)
    found = find_differences(tree, before, folders_to_remove)
    return [f"{path}: {failed.get(path, text)}" for path, text in found.items()]


def find_differences(
    tree: ChangeableFiles, states_before: Mapping[str, FileState | None], folders_absent_before: Sequence[str]
) -> dict[str, str]:
    """Return how each path differs from its state before, and which folders are left that were not there."""
    found = {path: _describe_difference(tree, path, state) for path, state in states_before.items()}
    left = [folder for folder in folders_absent_before if tree.state(folder) is not None]
    found |= dict.fromkeys(left, "a folder that was not there is left")
    return {path: text for path, text in found.items() if text}


def _restore_path(tree: ChangeableFiles, path: str, state: FileState | None) -> None:
    if state is not None:
        tree.write(path, state)
    elif not tree.list_missing_folders(path):
        tree.remove(path)


def _describe_difference(tree: ChangeableFiles, path: str, wanted: FileState | None) -> str:
    if wanted is None and tree.list_missing_folders(path):
        return ""
    try:
        found = tree.require_plain_file_state_or_absence(path)
    except ActionFailed as exc:
        if find_storage_fault(exc):
            raise
        return str(exc)
    if found == wanted:
        return ""
    if found is None or wanted is None:
        return "it is gone" if found is None else "it is there and was not"
    if found.content != wanted.content:
        return "its content is another"
    return f"mode {found.mode:04o} and owner {found.owner} instead of {wanted.mode:04o} and {wanted.owner}"
