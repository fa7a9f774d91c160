"""A host's files as real files under one folder. No read or write can leave it."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from stat import S_IMODE, S_ISDIR, S_ISLNK, S_ISREG
from typing import TypeVar

from app.errors import ActionFailed, EnvironmentUnusable, find_storage_fault
from app.syntax.host_files_protocol import FileState
from app.targets import path_walk
from app.targets.crash_safe_writes import Disk, OpenFolder, open_folder_descriptor
from app.targets.file_and_account_baseline import FoundEntry
from app.targets.host_lock import HostLock
from app.targets.simulated_file_owners import ROOT, FileOwners
from app.targets.temporary_read_permission import TemporaryModes

T = TypeVar("T")
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER_MODE = 0o755
_AT_ONCE = 1 << 20


class LocalTree:
    def __init__(self, folder: Path, disk: Disk) -> None:
        self._root = folder / "root"
        self._disk = disk
        self._owners = FileOwners(folder / "owners.json", disk)
        self._loans = TemporaryModes(folder / "loan.json", disk)
        self._lock = HostLock(folder / "loan.lock")
        self._at: int | None = None
        self._folders: dict[str, int] = {}
        self._looked: dict[str, tuple[FileState, bool] | None] = {}
        self._globbed: dict[str, list[str]] = {}
        if self._root.is_dir():
            with self._open_root() as root:
                self._loans.restore_mode_after_crash(root)

    # Reads follow links, but only inside the tree.

    def read(self, path: str) -> bytes | None:
        with self._open_root() as root:
            found = self._find_state_and_is_folder(root, path)
            return None if found is None or found[1] else found[0].content

    def state(self, path: str) -> FileState | None:
        """Return the state of a path; a folder's has no content."""
        with self._open_root() as root:
            found = self._find_state_and_is_folder(root, path)
            return None if found is None else found[0]

    def is_folder(self, path: str) -> bool:
        with self._open_root() as root:
            try:
                found = self._find_state_and_is_folder(root, path)
            except (ActionFailed, OSError):
                return False
            return found is not None and found[1]

    def glob(self, pattern: str) -> list[str]:
        with self._open_root() as root:
            if pattern not in self._globbed:
                paths = path_walk.expand_pattern_to_unchecked_paths(pattern, partial(self._list_names, root))
                present = (path for path in paths if self._is_present_after_following_links(root, path))
                self._globbed[pattern] = sorted(map(path_walk.spell_out_undecodable_name_bytes, present))
            return list(self._globbed[pattern])

    def find_first_link(self, path: str) -> str | None:
        with self._open_root() as root:
            return path_walk.find_first_link(path, partial(path_walk.find_link_target, root))

    def resolve_links(self, path: str) -> str | None:
        """Return where a path leads once its links are followed; None if it leaves the tree or loops."""
        with self._open_root() as root:
            return path_walk.resolve_links_unless_leaving_tree(root, path)

    def link(self, path: str) -> str | None:
        with self._open_root() as root:
            return path_walk.find_link_target(root, path_walk.unescape_name_bytes(path))

    def list_paths(self) -> list[str]:
        return sorted(self._build_entries_by_path(lambda _folder, _name, _path: None))

    def list_entries(self) -> dict[str, FoundEntry]:
        """Return all paths, each with its own entry; links are not followed."""
        return dict(sorted(self._build_entries_by_path(self._read_entry).items()))

    def _build_entries_by_path(self, read_entry: Callable[[int, str, str], T]) -> dict[str, T]:
        with self._open_root() as root:
            return {
                path_walk.spell_out_undecodable_name_bytes(f"{at[1:]}/{name}"): read_entry(
                    folder, name, f"{at[1:]}/{name}"
                )
                for at, folders, files, folder in os.fwalk(".", dir_fd=root)
                for name in (*folders, *files)
            }

    @contextmanager
    def lock_tree_and_cache_reads(self) -> Iterator[None]:
        """Keep the tree locked, its folders open and its reads cached within the context."""
        with self._open_root():
            yield

    # Changes never follow links.

    def require_plain_file_state_or_absence(self, path: str) -> FileState | None:
        """Return the plain file at `path`, or None; raise ActionFailed for links, folders and other kinds of files."""
        try:
            with self._open_root() as root, path_walk.open_parent(root, path) as (folder, name):
                found = self._find_entry_state_and_is_folder(folder, name, path)
                names = os.stat(name, dir_fd=folder, follow_symlinks=False).st_nlink
        except FileNotFoundError:
            return None
        except NotADirectoryError as exc:
            raise ActionFailed(f"A link or a file stands where {path} needs a folder.") from exc
        except OSError as exc:
            raise ActionFailed(f"{path} cannot be looked at: {exc.strerror}.") from exc
        if found is not None and found[1]:
            raise ActionFailed(f"{path} is a folder; name a plain file instead.")
        if found is not None and names > 1:
            # A replacement would part the names.
            said = f"{path} has {names} names (hard links); changing it would part them"
            raise ActionFailed(f"{said}. Make it a file of its own first.")
        return None if found is None else found[0]

    def write(self, path: str, state: FileState) -> None:
        with self._open_for_change(path) as (folder, name):
            self._disk.write(folder, name, state.content, state.mode, state.modified)
            self._owners.set_owner(path, state.owner)

    def remove(self, path: str) -> None:
        with self._open_for_change(path) as (folder, name):
            self._disk.remove(folder, name)
            self._owners.set_owner(path, ROOT)

    def list_missing_folders(self, path: str) -> list[str]:
        with self._open_root() as root:
            return [folder for folder in path_walk.list_folders_above(path) if _is_missing(root, folder)]

    def make_folder(self, path: str) -> None:
        with self._open_for_change(path) as (folder, name):
            self._disk.make_folder(folder, name, _FOLDER_MODE)

    def remove_folder(self, path: str) -> None:
        with self._open_for_change(path) as (folder, name):
            self._disk.remove_folder(folder, name)

    @contextmanager
    def _open_for_change(self, path: str) -> Iterator[tuple[int, str]]:
        with self._open_root() as root, _translate_errors(path), path_walk.open_parent(root, path) as (folder, name):
            try:
                yield folder, name
            finally:
                self._forget_reads()

    @contextmanager
    def _open_root(self) -> Iterator[int]:
        with self._lock:
            if self._at is not None:  # by this thread, since it holds the lock
                yield self._at
                return
            with _open_tree_root(self._root) as root:
                self._at = root
                self._owners.reload_if_changed()
                try:
                    yield root
                finally:
                    self._at = None
                    self._forget_reads()

    def _forget_reads(self) -> None:
        """Drop cached reads and close folders: at the end of a context and after each change."""
        self._looked.clear()
        self._globbed.clear()
        while self._folders:
            os.close(self._folders.popitem()[1])

    def _get_or_open_kept_subfolder(self, root: int, names: Sequence[str]) -> int:
        """Open a folder name by name, like `open_folder_at`; it stays open until the context ends."""
        if not names:
            return root
        path = "/".join(names)
        if path not in self._folders:
            self._folders[path] = open_folder_descriptor(names[-1], self._get_or_open_kept_subfolder(root, names[:-1]))
        return self._folders[path]

    def _find_state_and_is_folder(self, root: int, path: str) -> tuple[FileState, bool] | None:
        if path not in self._looked:
            self._looked[path] = self._resolve_to_state_and_is_folder(root, path)
        return self._looked[path]

    def _resolve_to_state_and_is_folder(self, root: int, path: str) -> tuple[FileState, bool] | None:
        plain = path_walk.unescape_name_bytes(path)
        try:
            return self._find_state_at_plain_path(root, plain)  # the fast path: most paths have no link
        except FileNotFoundError:
            return None
        except (OSError, ActionFailed) as exc:
            if find_storage_fault(exc):
                raise  # unreadable is not absent
            real = path_walk.resolve_links_unless_leaving_tree(root, plain)
        if real in (None, "/"):
            return None
        try:
            return self._find_state_at_plain_path(root, str(real))
        except (FileNotFoundError, NotADirectoryError, ActionFailed):
            return None

    def _find_state_at_plain_path(self, root: int, path: str) -> tuple[FileState, bool] | None:
        *folders, name = path_walk.require_and_split_plain_path(path)
        return self._find_entry_state_and_is_folder(self._get_or_open_kept_subfolder(root, folders), name, path)

    def _list_names(self, root: int, path: str) -> list[str]:
        names = [name for name in path.split("/") if name]
        try:
            return os.listdir(self._get_or_open_kept_subfolder(root, names))  # noqa: PTH208 (a descriptor has no pathlib form)
        except FileNotFoundError:
            return []
        except OSError as exc:
            if find_storage_fault(exc):
                raise
            real = path_walk.resolve_links_unless_leaving_tree(root, path)
        try:
            folders = [name for name in (real or "").split("/") if name]
            return [] if real is None else os.listdir(self._get_or_open_kept_subfolder(root, folders))  # noqa: PTH208
        except OSError:
            return []

    def _is_present_after_following_links(self, root: int, path: str) -> bool:
        """Return True if the path exists after its links are followed."""
        *folders, name = path.split("/")[1:]
        try:
            found = os.stat(name, dir_fd=self._get_or_open_kept_subfolder(root, folders), follow_symlinks=False)
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            return _is_link_target_present(root, path)
        return not S_ISLNK(found.st_mode) or _is_link_target_present(root, path)

    def _read_entry(self, folder: int, name: str, path: str) -> FoundEntry:
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
            if S_ISLNK(found.st_mode):
                return os.readlink(name, dir_fd=folder)
            return self._build_state_and_is_folder(found, folder, name, path)
        except (FileNotFoundError, ActionFailed):
            return None

    def _find_entry_state_and_is_folder(self, folder: int, name: str, path: str) -> tuple[FileState, bool] | None:
        """Return the state and whether it is a folder's; None if there is no such name."""
        try:
            found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None
        return self._build_state_and_is_folder(found, folder, name, path)

    def _build_state_and_is_folder(
        self, found: os.stat_result, folder: int, name: str, path: str
    ) -> tuple[FileState, bool]:
        mode, owner = S_IMODE(found.st_mode), self._owners.get_owner(path)
        if S_ISDIR(found.st_mode):
            return FileState(b"", mode, owner), True
        if not S_ISREG(found.st_mode):
            raise ActionFailed(f"{path} is a link or not a plain file; name a plain file instead.")
        content = self._read_content(folder, name, path, found.st_size)
        return FileState(content, mode, owner, found.st_mtime_ns), False

    def _read_content(self, folder: int, name: str, path: str, size_hint: int) -> bytes:
        try:
            descriptor = os.open(name, _READ, dir_fd=folder)
        except PermissionError:
            with self._loans.open_with_readable_mode(folder, name, path) as lent:
                return _read_to_end(lent, size_hint)
        try:
            return _read_to_end(descriptor, size_hint)
        finally:
            os.close(descriptor)


def _open_tree_root(root: Path) -> OpenFolder:
    try:
        return OpenFolder(root)
    except FileNotFoundError as exc:
        raise EnvironmentUnusable(f"{root} has no files yet; prepare the host first.") from exc


def _read_to_end(descriptor: int, expected_size: int) -> bytes:
    """Read the whole file.

    `expected_size` is from fstat; a read of one more byte that comes back short was the last.
    """
    content = os.read(descriptor, expected_size + 1)
    if len(content) <= expected_size:
        return content
    return content + b"".join(iter(lambda: os.read(descriptor, _AT_ONCE), b""))


def _is_link_target_present(root: int, path: str) -> bool:
    real = path_walk.resolve_links_unless_leaving_tree(root, path)
    try:
        return real is not None and bool(os.stat("." + real, dir_fd=root, follow_symlinks=False))
    except (OSError, ValueError):
        return False


def _is_missing(root: int, path: str) -> bool:
    """Return True if the path does not exist. A dangling link counts as existing: it is in the way."""
    try:
        with path_walk.open_parent(root, path) as (folder, name):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return True
    except NotADirectoryError:
        return False
    return False


@contextmanager
def _translate_errors(path: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as exc:
        raise ActionFailed(f"{path} lies in a folder that is not there.") from exc
    except NotADirectoryError as exc:
        raise ActionFailed(f"A link or a file stands where {path} needs a folder.") from exc
    except OSError as exc:
        raise ActionFailed(f"{path} cannot be changed: {exc.strerror}.") from exc
