"""The Shell protocol: commands and files on the host that a scanner uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class OscapRan:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """Runs as an account that may read the whole host. Paths are the host's."""

    async def run(self, argv: Sequence[str], timeout: float) -> OscapRan: ...  # noqa: ASYNC109

    async def get(self, path: str, limit: int) -> bytes | None:
        """Return the content, None if absent; raise ActionFailed above `limit` bytes."""

    async def put(self, path: str, content: bytes) -> None:
        """Write a file readable by its owner only; the folder exists."""
