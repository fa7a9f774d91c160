"""A shell on the host that runs one script after another: a new one costs a login shell and a sudo each time."""

import asyncio
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import asyncssh

from app.errors import EnvironmentUnusable
from app.targets.ssh.host_script_output import HostReport, parse_host_report
from app.targets.ssh.shell_script import ShellScript, build_script_server_command
from app.text.clean import clean_text, get_last_line

OnLine = Callable[[str], None]

_MOST = 192 * 1024 * 1024
_MOST_ERR = 8 * 1024
_PIECE = 256 * 1024
_LONGEST_LINE, _LONGEST_REASON = 400, 300
_CODE = re.compile(rb" (\d{1,3})\n")


@dataclass(frozen=True)
class ScriptResult:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def lines(self) -> list[str]:
        """The lines that are not empty. Only a newline ends one: a host's text may hold whatever else looks like it."""
        return [line for line in self.text.split("\n") if line]

    @property
    def report(self) -> HostReport:
        return parse_host_report(self.lines)

    @property
    def reason(self) -> str:
        return clean_text(self.err.strip(), _LONGEST_REASON) or "no reason given"


class ShellNotStarted(Exception):
    """Its text is the last line that the host printed instead."""


class HostShell:
    """Runs one script at a time. After an exception its state is unknown: close it."""

    def __init__(self, process: asyncssh.SSHClientProcess[bytes], *, sudo: bool) -> None:
        self._process = process
        self.sudo = sudo

    @property
    def is_open(self) -> bool:
        return not (self._process.is_closing() or self._process.stdout.at_eof())

    def close(self) -> None:
        self._process.close()

    async def run_script(self, script: ShellScript, on_line: OnLine | None = None) -> ScriptResult:
        """Raise EOFError if the shell ends before the script did, and EnvironmentUnusable for too much output."""
        _, (code, out), err = await asyncio.gather(
            self._write_stdin_unless_shell_ended(script.request),
            self._read_output(script.mark, on_line),
            _read_tail(self._process.stderr, script.mark),
        )
        return ScriptResult(code, out, clean_text(err, _MOST_ERR))

    async def _write_stdin_unless_shell_ended(self, data: bytes) -> None:
        with suppress(BrokenPipeError, ConnectionError):  # the shell ended; whoever reads its output finds that out
            self._process.stdin.write(data)
            await self._process.stdin.drain()

    async def _read_output(self, mark: bytes, on_line: OnLine | None) -> tuple[int, bytes]:
        """Return the exit code, which follows the second mark, and the output between the two."""
        out = bytearray()
        begun, told, searched = -1, 0, 0
        while piece := await self._process.stdout.read(_PIECE):
            out += piece
            if len(out) > _MOST:
                size = f"{_MOST // 2**20} MiB"
                raise EnvironmentUnusable(f"the host answered with more than {size}: more than Temper asked for.")
            if begun < 0 and (at := out.find(mark + b"\n")) >= 0:
                begun = told = searched = at + len(mark) + 1
            if begun < 0:
                continue
            end = out.find(mark, searched)
            searched = max(begun, len(out) - len(mark))
            while on_line and (stop := out.find(b"\n", told, end if end >= 0 else None)) >= 0:
                on_line(clean_text(out[told:stop].decode("utf-8", "replace"), _LONGEST_LINE))
                told = stop + 1
            if end >= 0:
                searched = end
                if code := _CODE.fullmatch(out, end + len(mark)):
                    return int(code[1]), bytes(out[begun:end])
        raise EOFError


async def open_host_shell(connection: asyncssh.SSHClientConnection, *, sudo: bool) -> HostShell:
    """Start a shell, as root by sudo; raise ShellNotStarted with the reason that the host gave."""
    shell = build_script_server_command(sudo=sudo)
    process = await connection.create_process(shell.command, encoding=None)
    process.stdin.write(shell.request)
    try:
        await process.stdout.readuntil(shell.mark + b"\n")
    except asyncio.IncompleteReadError as exc:
        last = get_last_line(clean_text(await _read_tail(process.stderr), _MOST_ERR), 200)
        process.close()
        raise ShellNotStarted(last or "it says nothing") from exc
    except BaseException:
        process.close()
        raise
    return HostShell(process, sudo=sudo)


async def _read_tail(stream: asyncssh.SSHReader[bytes], mark: bytes = b"") -> str:
    """Read up to the mark, or to the end; return the last part."""
    kept = b""
    while piece := await stream.read(_PIECE):
        kept = (kept + piece)[-_MOST_ERR - len(mark) - 1 :]
        if mark and (end := kept.find(mark)) >= 0:
            return kept[:end].decode("utf-8", "replace")
    return kept.decode("utf-8", "replace")
