"""A read-only look at a host's files, the same for a live host and for a rehearsal on a copy."""

from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True)
class FileState:
    content: bytes
    mode: int
    owner: str
    modified: int | None = field(default=None, compare=False)
    """When its content last changed, in nanoseconds; None for what is yet to be written."""


class Files(Protocol):
    """Paths are the host's own, absolute. A link that leaves the host reads as absent."""

    def read(self, path: str) -> bytes | None: ...
    def state(self, path: str) -> FileState | None: ...
    def glob(self, pattern: str) -> list[str]: ...
