"""Runs commands and transfers files for a scanner over SSH."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import ActionFailed, LineCut, Unusable
from app.targets.ssh.line import SshLine
from app.text.clean import clean

_GET = 'test -f "$1" || exit 44; [ "$(stat -c %s -- "$1")" -le "$2" ] || exit 45; cat -- "$1"'
_PUT = 'umask 077; rm -f -- "$1"; set -C; cat >"$1" && [ "$(stat -c %s -- "$1")" = "$2" ]'
_ABSENT, _LARGE = 44, 45
_TRANSFER = 300.0


@dataclass(frozen=True)
class Ran:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class RemoteShell:
    def __init__(self, line: SshLine) -> None:
        self._line = line

    async def run(self, argv: Sequence[str], timeout: float) -> Ran:  # noqa: ASYNC109
        try:
            said = await self._line.said(shlex.join(argv), seconds=timeout)
        except LineCut:
            raise
        except Unusable:
            return Ran(None, b"", b"")
        return Ran(said.code, said.out, said.err.encode())

    async def get(self, path: str, limit: int) -> bytes | None:
        said = await self._line.said(_GET, path, str(limit), seconds=_TRANSFER)
        if said.code == _ABSENT:
            return None
        if said.code:
            why = f"has more than {limit >> 20} MiB" if said.code == _LARGE else clean(said.err.strip(), 200)
            raise ActionFailed(f"{path} is not read: {why}.")
        return said.out

    async def put(self, path: str, content: bytes) -> None:
        size = str(len(content))
        said = await self._line.said(_PUT, path, size, data=content, seconds=_TRANSFER)
        if said.code:
            raise ActionFailed(f"{path} was not written: {clean(said.err.strip(), 200) or 'it came in part'}.")
