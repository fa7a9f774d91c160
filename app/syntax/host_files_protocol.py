"""Read-only access to a host's files, the same for a live host and for a rehearsal on a copy."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class FileState:
    content: bytes
    mode: int
    owner: str
    modified: int | None = field(default=None, compare=False, repr=False)
    """The modification time in nanoseconds; None for files yet to be written."""


class Files(Protocol):
    """A host's files by absolute path. A link that leaves the host reads as absent."""

    def read(self, path: str) -> bytes | None: ...
    def state(self, path: str) -> FileState | None: ...
    def glob(self, pattern: str) -> list[str]: ...
    def is_folder(self, path: str) -> bool:
        """Return True for a folder, or a link to one."""
