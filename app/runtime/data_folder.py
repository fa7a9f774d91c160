"""The data folder and its lock: one process works on its runs. The kernel releases the lock at its end."""

import fcntl
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.private_files import restrict_folder_and_direct_entries_to_owner


class AlreadyInUse(EnvironmentUnusable):
    """Another process already uses the data folder or database."""


def create_private_folder(path: Path) -> None:
    """Create the data folder, or take other accounts' access to it away. Raise EnvironmentUnusable if it cannot be."""
    _make_folder(path)
    try:
        restrict_folder_and_direct_entries_to_owner(path)
    except OSError as exc:
        raise _create_folder_error(path, exc) from exc


def create_parent(path: Path) -> None:
    """Create the folder around a path, and leave one that exists as it is."""
    _make_folder(path.parent)


def _make_folder(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as exc:
        raise _create_folder_error(path, exc) from exc


@contextmanager
def hold_lock(path: Path) -> Iterator[None]:
    create_private_folder(path.parent)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as exc:
        raise _create_folder_error(path.parent, exc) from exc
    try:
        _acquire_lock(handle, path)
        yield
    finally:
        os.close(handle)


def _create_folder_error(folder: Path, exc: OSError) -> EnvironmentUnusable:
    return EnvironmentUnusable(f"cannot use {folder}: {exc.strerror}. Choose a writable folder with --data.")


def _acquire_lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as exc:
        holder = os.pread(handle, 20, 0).decode() or "unknown"
        raise AlreadyInUse(
            f"process {holder} already works on {path.parent}: use it, stop it, or choose another --data"
        ) from exc
    os.ftruncate(handle, 0)
    os.pwrite(handle, str(os.getpid()).encode(), 0)


def read_or_create_folder_id(data: Path) -> str:
    file = data / "place"
    if not file.exists():
        new = data / f".place.{secrets.token_hex(8)}"
        new.write_text(secrets.token_hex(8))
        with suppress(FileExistsError):  # another process may create it at the same time
            file.hardlink_to(new)
        new.unlink()
    return file.read_text()
