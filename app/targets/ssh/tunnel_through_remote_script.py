"""Tunnels SSH over stdin and stdout of a script on the host."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress

import asyncssh

from app.errors import ConnectionLost
from app.targets.ssh.shell_script import ShellCommand
from app.text.clean import clean_text, get_last_line

_PIECE = 64 * 1024
_MOST_ERR = 8 * 1024


class Tunnel:
    def __init__(self, outer: Callable[[], Awaitable[asyncssh.SSHClientConnection]], one: ShellCommand) -> None:
        self._outer = outer
        self._script = one
        self._process: asyncssh.SSHClientProcess[bytes] | None = None
        self._at_work: list[asyncio.Task[None]] = []
        self._err = b""

    @property
    def last_error_line(self) -> str:
        return get_last_line(self._err.decode("utf-8", "replace"), 200)

    async def open(self) -> socket.socket:
        try:
            connection = await self._outer()
            self._process = process = await connection.create_process(self._script.command, encoding=None)
            self._start_copy_task(self._collect_stderr(process), "stderr")
            process.stdin.write(self._script.request)
            await process.stdout.readuntil(self._script.mark + b"\n")
        except (asyncssh.Error, OSError, EOFError) as exc:
            raise ConnectionLost(
                f"nothing could be begun on the host to connect to: {self.last_error_line or clean_text(str(exc), 200)}"
            ) from exc
        ours, theirs = socket.socketpair()
        theirs.setblocking(False)
        self._start_copy_task(_copy_from_host(process, theirs), "stdout")
        self._start_copy_task(_copy_to_host(theirs, process), "stdin")
        return ours

    async def close(self) -> None:
        for task in self._at_work:
            task.cancel()
        await asyncio.gather(*self._at_work, return_exceptions=True)
        if self._process is not None:
            self._process.close()
            with suppress(TimeoutError, OSError, asyncssh.Error):
                async with asyncio.timeout(2):
                    await self._process.wait_closed()

    def _start_copy_task(self, work: Coroutine[None, None, None], stream_name: str) -> None:
        self._at_work.append(asyncio.create_task(work, name=f"tunnel {stream_name}"))

    async def _collect_stderr(self, process: asyncssh.SSHClientProcess[bytes]) -> None:
        while piece := await process.stderr.read(_PIECE):
            self._err = (self._err + piece)[-_MOST_ERR:]


async def _copy_from_host(process: asyncssh.SSHClientProcess[bytes], local_socket: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with local_socket, suppress(OSError):
        while piece := await process.stdout.read(_PIECE):
            await loop.sock_sendall(local_socket, piece)


async def _copy_to_host(local_socket: socket.socket, process: asyncssh.SSHClientProcess[bytes]) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError, ValueError):  # the peer has closed it
        while piece := await loop.sock_recv(local_socket, _PIECE):
            process.stdin.write(piece)
            await process.stdin.drain()
