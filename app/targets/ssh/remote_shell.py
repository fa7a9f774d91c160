"""Runs commands and transfers files for a scanner over SSH."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from app.errors import ActionFailed, ConnectionLost, EnvironmentUnusable
from app.targets.ssh.connection import SshConnection
from app.text.clean import clean_text

_GET = 'test -f "$1" || exit 44; [ "$(stat -c %s -- "$1")" -le "$2" ] || exit 45; cat -- "$1"'
_PUT = 'umask 077; rm -f -- "$1"; set -C; cat >"$1" && [ "$(stat -c %s -- "$1")" = "$2" ]'
_ABSENT, _LARGE = 44, 45
_TRANSFER = 300.0


@dataclass(frozen=True)
class CommandResult:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class RemoteShell:
    def __init__(self, line: SshConnection) -> None:
        self._line = line

    async def run(self, argv: Sequence[str], timeout: float) -> CommandResult:  # noqa: ASYNC109
        try:
            said = await self._line.run_text_async(shlex.join(argv), seconds=timeout)
        except ConnectionLost:
            raise
        except EnvironmentUnusable:
            return CommandResult(None, b"", b"")
        return CommandResult(said.code, said.out, said.err.encode())

    async def read_file(self, path: str, limit: int) -> bytes | None:
        said = await self._line.run_text_async(_GET, path, str(limit), seconds=_TRANSFER)
        if said.code == _ABSENT:
            return None
        if said.code:
            why = f"has more than {limit >> 20} MiB" if said.code == _LARGE else clean_text(said.err.strip(), 200)
            raise ActionFailed(f"{path} is not read: {why}.")
        return said.out

    async def write_file(self, path: str, content: bytes) -> None:
        size = str(len(content))
        said = await self._line.run_text_async(_PUT, path, size, data=content, seconds=_TRANSFER)
        if said.code:
            raise ActionFailed(f"{path} was not written: {clean_text(said.err.strip(), 200) or 'it came in part'}.")
