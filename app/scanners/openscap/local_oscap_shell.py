"""A shell on this machine: oscap scans a tree of files through its probe root."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from app.errors import EnvironmentUnusable
from app.scanners.openscap.oscap_command import OscapResult

_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"


class TreeShell:
    """Paths are this machine's; only the scan itself looks at the tree."""

    def __init__(self, root: Path, home: Path) -> None:
        """oscap always calls chroot, which needs a user namespace."""
        self._wall = ["unshare", "--user", "--map-root-user"]
        self._environment = {
            "PATH": _PATH,
            "LC_ALL": "C.UTF-8",
            "HOME": str(home.absolute()),
            "OSCAP_PROBE_ROOT": str(root.absolute()),
        }

    async def run(
        self,
        argv: Sequence[str],
        timeout: float,  # noqa: ASYNC109
        stdin: bytes = b"",
        on_line: Callable[[str], None] | None = None,
    ) -> OscapResult:
        try:
            process = await asyncio.create_subprocess_exec(
                *self._wall,
                *argv,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as exc:
            raise EnvironmentUnusable(
                f"{self._wall[0]} does not start here ({exc.strerror}): apt-get install util-linux."
            ) from exc
        assert process.stdin
        assert process.stdout
        assert process.stderr
        try:
            async with asyncio.timeout(timeout):
                stdout, stderr, *_ = await asyncio.gather(
                    _read_all_reporting_lines(process.stdout, on_line),
                    process.stderr.read(),
                    _write_to_stdin(process.stdin, stdin),
                )
                await process.wait()
        except TimeoutError:
            return OscapResult(None, b"", b"")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return OscapResult(process.returncode, stdout, stderr)


async def _write_to_stdin(stream: asyncio.StreamWriter, content: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionResetError):  # the command ended early; its exit code says why
        stream.write(content)
        await stream.drain()
    stream.close()


async def _read_all_reporting_lines(stream: asyncio.StreamReader, on_line: Callable[[str], None] | None) -> bytes:
    found, told = bytearray(), 0
    while piece := await stream.read(1 << 18):
        found += piece
        while on_line and (end := found.find(b"\n", told)) >= 0:
            on_line(found[told:end].decode("utf-8", "replace"))
            told = end + 1
    return bytes(found)
