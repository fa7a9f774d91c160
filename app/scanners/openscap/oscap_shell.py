"""The Shell protocol: commands and files on the host that a scanner uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class OscapResult:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """Runs as an account that may read the whole host. Paths are the host's."""

    async def run(self, argv: Sequence[str], timeout: float) -> OscapResult: ...  # noqa: ASYNC109

    async def read_file(self, path: str, limit: int) -> bytes | None:
        """Return the content, None if absent; raise ActionFailed above `limit` bytes."""

    async def write_file(self, path: str, content: bytes) -> None:
        """Write a file readable by its owner only; the folder exists."""
