"""Restore the files of a journal and verify the result."""

from collections.abc import Mapping, Sequence

from app.errors import ActionFailed
from app.syntax.files import FileState
from app.targets.changeable import Changeable
from app.targets.patience import passes


def restore(tree: Changeable, before: Mapping[str, FileState | None], folders: Sequence[str]) -> list[str]:
    """Restore each path and return the remaining differences. Repeatable after a crash.

    A full disk raises ActionFailed, so that the caller can retry.
    """
    failed: dict[str, str] = {}
    for path, state in before.items():
        try:
            _put_back(tree, path, state)
        except ActionFailed as exc:
            if passes(exc.__cause__):
                raise
            failed[path] = str(exc)
    for folder in reversed(folders):
        try:
            tree.remove_folder(folder)
        except ActionFailed as exc:
            failed[folder] = str(exc)
    found = differences(tree, before, folders)
    return [f"{path}: {failed.get(path, text)}" for path, text in found.items()]


def differences(tree: Changeable, before: Mapping[str, FileState | None], folders: Sequence[str]) -> dict[str, str]:
    found = {path: _difference(tree, path, state) for path, state in before.items()}
    found |= {folder: "a folder that was not there is left" for folder in folders if tree.state(folder) is not None}
    return {path: text for path, text in found.items() if text}


def _put_back(tree: Changeable, path: str, state: FileState | None) -> None:
    if state is not None:
        tree.write(path, state)
    elif not tree.missing_folders(path):
        tree.remove(path)


def _difference(tree: Changeable, path: str, wanted: FileState | None) -> str:
    if wanted is None and tree.missing_folders(path):
        return ""
    try:
        found = tree.exact(path)
    except ActionFailed as exc:
        return str(exc)
    if found == wanted:
        return ""
    if found is None or wanted is None:
        return "it is gone" if found is None else "it is there and was not"
    if found.content != wanted.content:
        return "its content is another"
    return f"mode {found.mode:04o} and owner {found.owner} instead of {wanted.mode:04o} and {wanted.owner}"
