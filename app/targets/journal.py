"""Journals of pre-images, written and synced before a change begins.

A journal is a folder that appears whole, by one rename. It is open until it has a marker: `committed` (the change
stays), `undone` (the change was rolled back) or `void` (the host was laid out anew).
"""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec

from app.errors import ActionFailed, RollbackFailed
from app.events.event_field_types import FileChange
from app.syntax.host_files_protocol import FileState
from app.targets.crash_safe_writes import Disk, OpenFolder
from app.targets.file_and_account_baseline import SideEffects, build_file_change

Mark = Literal["open", "committed", "undone", "void"]
Before = Mapping[str, FileState | None]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_MARKS: tuple[Mark, ...] = ("void", "committed", "undone")
_CONTENTS, _AFTERMATH = "contents.json", "aftermath.json"


class PreImage(msgspec.Struct, frozen=True):
    path: str
    mode: int
    owner: str
    image: str | None
    """The file in the journal that has the content; None if the path did not exist."""
    change: FileChange
    """The change as digests, which remain when the journal is closed."""
    modified: int | None = None
    """None in journals of versions that did not keep it."""


class JournalContents(msgspec.Struct, frozen=True):
    order: int
    files: tuple[PreImage, ...]
    folders: tuple[str, ...]
    """The folders that the change creates, outermost first."""


class Journal:
    def __init__(self, folder: Path, disk: Disk) -> None:
        self._folder = folder
        self._disk = disk

    def begin(
        self, name: str, before: Before, after: Mapping[str, FileState], folders: Sequence[str]
    ) -> tuple[FileChange, ...]:
        """Write the pre-images of the paths in `after`. They are synced when this returns."""
        self._free_journal_name(name)
        new = self._folder / f".{name}.new"
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(mode=0o700)
        changes = tuple(build_file_change(path, before[path], state) for path, state in after.items())
        images = tuple(self._write_image(new, number, one, before[one.path]) for number, one in enumerate(changes))
        contents = JournalContents(self._get_next_order(), images, tuple(folders))
        self._disk.write_private_file(new / _CONTENTS, msgspec.json.encode(contents))
        self._disk.rename(new, self._folder / name)
        return changes

    def read_mark(self, name: str) -> Mark | None:
        """Return the journal's marker, or None if there is no such journal."""
        at = self._get_folder(name)
        if not at.is_dir():
            return None
        return next((mark for mark in _MARKS if (at / mark).exists()), "open")

    def read_contents(self, name: str) -> JournalContents:
        try:
            return msgspec.json.decode((self._get_folder(name) / _CONTENTS).read_bytes(), type=JournalContents)
        except (OSError, msgspec.DecodeError) as exc:
            raise RollbackFailed(f"The journal {name} cannot be read ({exc}). Restore the host by hand.") from exc

    def read_pre_images(self, name: str) -> Before:
        return {image.path: self._read_image(name, image) for image in self.read_contents(name).files}

    def close(self, name: str, mark: Mark, *, keep_images: bool = False) -> None:
        """Write the marker, then delete the images: the digests are enough evidence of a closed journal.

        With `keep_images` the change can be reopened and rolled back, until the journal is closed once more.
        """
        at = self._get_folder(name)
        self._disk.write_private_file(at / mark, b"")
        if keep_images:
            return
        with OpenFolder(at) as folder:
            for image in os.listdir(folder):  # noqa: PTH208 (a descriptor has no pathlib form)
                if image.isdigit():
                    self._disk.remove(folder, image)

    def reopen(self, name: str) -> None:
        """Make a committed change one that is rolled back. Its images were kept."""
        self._disk.remove_file_by_path(self._get_folder(name) / "committed")

    def void_journals(self) -> None:
        """Mark all journals void: the host was laid out anew."""
        for name in self._list_names():
            if self.read_mark(name) in ("open", "committed"):
                self.close(name, "void")

    def list_pending(self) -> list[str]:
        return self._list_journals_marked_as("open")

    def list_committed(self) -> list[str]:
        return self._list_journals_marked_as("committed")

    def write_side_effects(self, name: str, side_effects: SideEffects) -> None:
        self._disk.write_private_file(self._get_folder(name) / _AFTERMATH, msgspec.json.encode(side_effects))

    def list_committed_and_open_side_effects(self) -> list[SideEffects]:
        """Return the side effects of the committed changes and of the open one."""
        return [self._read_side_effects(name) for name in self._list_journals_marked_as("committed", "open")]

    def list_open_side_effect_paths(self) -> set[str]:
        names = self._list_journals_marked_as("open")
        return {path for name in names for path in self._read_side_effects(name).entries}

    def list_changed_resources(self) -> set[str]:
        """Return the resources (packages, units, mounts, accounts) of the committed and open changes."""
        names = self._list_journals_marked_as("committed", "open")
        return {one.path for name in names for one in self.read_contents(name).files if not one.path.startswith("/")}

    def list_committed_file_changes(self) -> list[FileChange]:
        """Return the committed file changes, oldest first, without those that a later package replaced."""
        made: list[FileChange] = []
        for name in self._list_journals_marked_as("committed"):
            brought = self._read_side_effects(name).entries
            made = [change for change in made if change.path not in brought]
            made += [image.change for image in self.read_contents(name).files if image.path.startswith("/")]
        return made

    def _read_side_effects(self, name: str) -> SideEffects:
        try:
            return msgspec.json.decode((self._get_folder(name) / _AFTERMATH).read_bytes(), type=SideEffects)
        except FileNotFoundError:
            return SideEffects()
        except (OSError, msgspec.DecodeError) as exc:
            raise RollbackFailed(f"What came of the change {name} cannot be read ({exc}).") from exc

    def _free_journal_name(self, name: str) -> None:
        with OpenFolder(self._folder.parent) as parent:
            self._disk.make_folder(parent, self._folder.name, 0o700)
        mark = self.read_mark(name)
        if mark in ("open", "committed"):
            raise ActionFailed(f"The journal {name} is {mark} already; use a new name.")
        if mark is not None:
            copies = sum(1 for other in self._folder.iterdir() if other.name.startswith(f"{name}~"))
            self._disk.rename(self._get_folder(name), self._folder / f"{name}~{copies + 1}")

    def _write_image(self, new_folder: Path, number: int, file_change: FileChange, state: FileState | None) -> PreImage:
        if state is None:
            return PreImage(file_change.path, 0, "", None, file_change)
        self._disk.write_private_file(new_folder / str(number), state.content)
        return PreImage(file_change.path, state.mode, state.owner, str(number), file_change, state.modified)

    def _read_image(self, name: str, image: PreImage) -> FileState | None:
        if image.image is None:
            return None
        try:
            content = (self._get_folder(name) / image.image).read_bytes()
        except OSError as exc:
            raise RollbackFailed(f"The pre-image of {image.path} in journal {name} is gone: {exc.strerror}.") from exc
        return FileState(content, image.mode, image.owner, image.modified)

    def _list_journals_marked_as(self, *marks: Mark) -> list[str]:
        """Return the journals with these marks, one mark after the other, each oldest first."""
        found = [(marks.index(mark), name) for name in self._list_names() if (mark := self.read_mark(name)) in marks]
        return [name for _, name in sorted(found, key=lambda one: (one[0], self.read_contents(one[1]).order))]

    def _get_next_order(self) -> int:
        return 1 + max((self.read_contents(name).order for name in self._list_names()), default=0)

    def _list_names(self) -> list[str]:
        if not self._folder.is_dir():
            return []
        return sorted(entry.name for entry in self._folder.iterdir() if _NAME.fullmatch(entry.name))

    def _get_folder(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise ActionFailed(f"{name!r} cannot name a journal: letters, digits, dots, dashes and underscores only.")
        return self._folder / name
