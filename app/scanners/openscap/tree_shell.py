"""A shell on this machine: oscap scans a tree of files through its probe root."""

import asyncio
import os
import signal
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.errors import ActionFailed, EnvironmentUnusable
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

    async def run(self, argv: Sequence[str], timeout: float) -> OscapResult:  # noqa: ASYNC109
        try:
            process = await asyncio.create_subprocess_exec(
                *self._wall,
                *argv,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                env=self._environment,
                start_new_session=True,
            )
        except OSError as exc:
            raise EnvironmentUnusable(
                f"{self._wall[0]} does not start here ({exc.strerror}): apt-get install util-linux."
            ) from exc
        try:
            async with asyncio.timeout(timeout):
                stdout, stderr = await process.communicate()
        except TimeoutError:
            return OscapResult(None, b"", b"")
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.wait()
        return OscapResult(process.returncode, stdout, stderr)

    async def read_file(self, path: str, limit: int) -> bytes | None:
        return await asyncio.to_thread(_read_bytes, Path(path), limit)

    async def write_file(self, path: str, content: bytes) -> None:
        await asyncio.to_thread(_write_bytes, Path(path), content)


def _read_bytes(file: Path, limit: int) -> bytes | None:
    try:
        with file.open("rb") as stream:
            content = stream.read(limit + 1)
    except FileNotFoundError:
        return None
    if len(content) > limit:
        raise ActionFailed(f"{file} has more than {limit >> 20} MiB; it is not read.")
    return content


def _write_bytes(file: Path, content: bytes) -> None:
    file.unlink(missing_ok=True)
    with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
        stream.write(content)
