"""Crash-safe writes: announce the step, write a temporary file, sync, then rename."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PROBE, _PROBE_BYTES = ".temper-probe", 256 * 1024
Step = Callable[[str], None]
"""Called with a description right before each step."""

_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def ignore_step(_step: str) -> None:
    pass


def build_fixed_temp_name(name: str) -> str:
    """Return a name that daemons ignore: sudo skips dots, drop-in folders want .conf or .sh at the end."""
    return f".{name}.temper-new"


class Disk:
    """Writes inside open folder descriptors, so a swapped path cannot lead elsewhere."""

    def __init__(self, step: Step = ignore_step) -> None:
        self._step = step

    def write(self, folder: int, name: str, content: bytes, mode: int, modified: int | None = None) -> None:
        """Write atomically. `modified` sets the file's time in nanoseconds, to restore an old file."""
        temp = build_fixed_temp_name(name)
        self._unlink_if_present(folder, temp)
        self._step(f"write {name}")
        with os.fdopen(os.open(temp, _NEW_FILE, 0o600, dir_fd=folder), "wb") as file:
            file.write(content)
            file.flush()
            os.fchmod(file.fileno(), mode)
            if modified is not None:
                os.utime(file.fileno(), ns=(modified, modified))
            os.fsync(file.fileno())
        self._step(f"rename {name}")
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
        self._sync_folder(folder, name)

    def write_private_file(self, path: Path, content: bytes) -> None:
        """Write a file that only this account may read."""
        with OpenFolder(path.parent) as folder:
            self.write(folder, path.name, content, 0o600)

    def check_folder_is_writable(self, path: Path) -> None:
        """Write and remove a file in the folder; raise OSError if that is impossible."""
        probe = path / _PROBE
        try:
            self.write_private_file(probe, bytes(_PROBE_BYTES))
        finally:
            self.remove_file_by_path(probe)

    def remove(self, folder: int, name: str) -> None:
        self._step(f"remove {name}")
        self._unlink_if_present(folder, build_fixed_temp_name(name))
        self._unlink_if_present(folder, name)
        self._sync_folder(folder, name)

    def remove_file_by_path(self, path: Path) -> None:
        with OpenFolder(path.parent) as folder:
            self.remove(folder, path.name)

    def make_folder(self, folder: int, name: str, mode: int) -> None:
        self._step(f"make folder {name}")
        with suppress(FileExistsError):
            os.mkdir(name, mode, dir_fd=folder)
            self._set_exact_mode(folder, name, mode)
        self._sync_folder(folder, name)

    def remove_folder(self, folder: int, name: str) -> None:
        self._step(f"remove folder {name}")
        with suppress(FileNotFoundError):
            os.rmdir(name, dir_fd=folder)
        self._sync_folder(folder, name)

    def set_mode_unsynced(self, descriptor: int, mode: int) -> None:
        """Set the mode of a path opened by `open_path_descriptor`, without a sync: a power cut may undo it."""
        self._step("set the mode of a file that is not open")
        _get_descriptor_path(descriptor).chmod(mode)

    @staticmethod
    def _set_exact_mode(folder: int, name: str, mode: int) -> None:
        """Set the mode by descriptor: chmod by name would follow a link that was swapped in, and mkdir has a umask."""
        with open_path_descriptor(folder, name) as descriptor:
            _get_descriptor_path(descriptor).chmod(mode)

    def set_open_mode(self, descriptor: int, mode: int) -> None:
        self._step("set the mode of an open file")
        os.fchmod(descriptor, mode)
        os.fsync(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        self._step(f"rename {old.name} to {new.name}")
        old.rename(new)
        with OpenFolder(new.parent) as folder:
            self._sync_folder(folder, new.name)
        if old.parent != new.parent:
            with OpenFolder(old.parent) as folder:
                self._sync_folder(folder, old.name)

    def _sync_folder(self, folder: int, name: str) -> None:
        self._step(f"sync the folder of {name}")
        os.fsync(folder)

    def _unlink_if_present(self, folder: int, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)


def open_folder_descriptor(path: str | Path, parent_descriptor: int | None = None) -> int:
    """Open a folder and return its descriptor; raise OSError if the name is a link."""
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=parent_descriptor)


@contextmanager
def open_path_descriptor(folder: int, name: str) -> Iterator[int]:
    """Yield a descriptor that stays with the file, folder or link, and for which no right to read it is needed."""
    descriptor = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def reopen_for_reading(descriptor: int) -> int:
    """Open the file of an `open_path_descriptor` for reading, whatever has its name by now."""
    return os.open(_get_descriptor_path(descriptor), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)


def _get_descriptor_path(descriptor: int) -> Path:
    return Path(f"/proc/self/fd/{descriptor}")


class OpenFolder:
    """Context manager for an open folder: `with OpenFolder(path) as descriptor`."""

    def __init__(self, path: str | Path) -> None:
        self._descriptor = open_folder_descriptor(path)

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_exc: object) -> None:
        os.close(self._descriptor)
