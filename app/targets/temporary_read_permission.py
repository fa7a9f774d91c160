"""Read a file whose mode denies its owner, such as /etc/shadow with mode 0000, without being root.

The mode is widened for one open, under a synced note. After a crash, the next process that opens the tree
restores the mode from the note.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_IMODE

import msgspec

from app.errors import ActionFailed, EnvironmentUnusable
from app.targets.crash_safe_writes import Disk, open_path_descriptor, reopen_for_reading
from app.targets.path_walk import open_parent, spell_out_undecodable_name_bytes, unescape_name_bytes

_LENT = 0o400
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class ModeNote(msgspec.Struct, frozen=True):
    path: str
    mode: int
    inode: int


class TemporaryModes:
    """The caller must hold the lock of the note, so there is never more than one."""

    def __init__(self, note: Path, disk: Disk) -> None:
        self._note = note
        self._disk = disk

    @contextmanager
    def open_with_readable_mode(self, folder_fd: int, name: str, path: str) -> Iterator[int]:
        with open_path_descriptor(folder_fd, name) as closed:
            found = os.fstat(closed)
            note = ModeNote(spell_out_undecodable_name_bytes(path), S_IMODE(found.st_mode), found.st_ino)
            self._disk.write_private_file(self._note, msgspec.json.encode(note))
            try:
                descriptor = self._widen_mode_and_open(closed, note.mode)
            except PermissionError as exc:
                way_on = "Start as the tree's owner."
                raise EnvironmentUnusable(f"{path} cannot be read: this process does not own it. {way_on}") from exc
        try:
            # synced before the note goes: after a power cut, a wide mode must still have its note
            self._disk.set_open_mode(descriptor, note.mode)
            self._disk.remove_file_by_path(self._note)
            yield descriptor
        finally:
            os.close(descriptor)

    def _widen_mode_and_open(self, closed: int, mode: int) -> int:
        """Widen the mode and open the file; put the mode back if it cannot be opened."""
        try:
            self._disk.set_mode_unsynced(closed, _LENT)
        except PermissionError:
            self._disk.remove_file_by_path(self._note)  # nothing was widened
            raise
        try:
            return reopen_for_reading(closed)
        except OSError:
            self._disk.set_mode_unsynced(closed, mode)  # the note stays, because this is not synced
            raise

    def restore_mode_after_crash(self, root_fd: int) -> None:
        """Restore a mode that a crash left wide. A file that was replaced meanwhile is not touched."""
        try:
            note = msgspec.json.decode(self._note.read_bytes(), type=ModeNote)
        except (FileNotFoundError, msgspec.DecodeError):
            return
        with (
            suppress(FileNotFoundError, NotADirectoryError, ActionFailed),
            open_parent(root_fd, unescape_name_bytes(note.path)) as (folder, name),
        ):
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if (found.st_ino, S_IMODE(found.st_mode)) == (note.inode, _LENT):
                with os.fdopen(os.open(name, _READ, dir_fd=folder)) as file:
                    self._disk.set_open_mode(file.fileno(), note.mode)
        self._disk.remove_file_by_path(self._note)
