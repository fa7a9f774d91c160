"""Files of which each path is read at most once, and a record of these reads."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from app.syntax.host_files_protocol import Files, FileState

Read = tuple[str, str]
"""A method of the files, and the path that it was called with."""


class CachedFiles:
    read: Callable[[str], bytes | None]
    state: Callable[[str], FileState | None]
    glob: Callable[[str], list[str]]
    is_folder: Callable[[str], bool]
    link: Callable[[str], str | None]
    """Present only if the wrapped files know links: callers check with hasattr."""
    find_first_link: Callable[[str], str | None]

    def __init__(self, files: Files) -> None:
        self.seen: dict[Read, Any] = {}
        for how in ("read", "state", "glob", "is_folder", "link", "find_first_link"):
            if hasattr(files, how):
                setattr(self, how, partial(self._read_once, how, getattr(files, how)))

    def _read_once(self, method_name: str, read_method: Callable[[str], Any], path: str) -> Any:
        if (method_name, path) not in self.seen:
            self.seen[method_name, path] = read_method(path)
        return self.seen[method_name, path]


def collect_reads_again(files: Files, reads: Iterable[Read]) -> dict[Read, Any]:
    """Return what the reads find now. Raise what reading raises."""
    return {(how, path): getattr(files, how)(path) for how, path in reads}
