"""Runs commands for a scanner over SSH."""

import asyncio
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from app.targets.ssh.connection import CommandTimedOut, SshConnection


@dataclass(frozen=True)
class CommandResult:
    code: int | None
    """None if it timed out; its processes were killed."""
    stdout: bytes
    stderr: bytes


class RemoteShell:
    def __init__(self, line: SshConnection) -> None:
        self._line = line

    async def run(
        self,
        argv: Sequence[str],
        timeout: float,  # noqa: ASYNC109
        stdin: bytes = b"",
        on_line: Callable[[str], None] | None = None,
    ) -> CommandResult:
        here = asyncio.get_running_loop()

        def forward_line(line: str) -> None:
            if on_line:
                here.call_soon_threadsafe(on_line, line)

        listen = forward_line if on_line else None
        try:
            said = await self._line.run_text_async(shlex.join(argv), data=stdin, seconds=timeout, on_line=listen)
        except CommandTimedOut:
            return CommandResult(None, b"", b"")
        return CommandResult(said.code, said.out, said.err.encode())
