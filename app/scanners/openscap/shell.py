"""Commands and files on the host that a scanner runs on. Whoever reaches the host provides one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class OscapRan:
    code: int | None
    """None: it ran past its time, and was ended with all that it had started."""
    stdout: bytes
    stderr: bytes


class Shell(Protocol):
    """It acts as an account that may read the whole host. Paths are the host's own."""

    async def run(self, argv: Sequence[str], timeout: float) -> OscapRan: ...  # noqa: ASYNC109

    async def get(self, path: str, limit: int) -> bytes | None:
        """What the file holds; None where it is absent. More than `limit` bytes are an ActionFailed."""

    async def put(self, path: str, content: bytes) -> None:
        """Readable for nobody else. The folder is there."""
