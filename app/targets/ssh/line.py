"""One reusable SSH connection to a host that runs scripts as root and reconnects when needed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh

from app.errors import Fenced, LineCut, Unusable
from app.targets.ownership import ALONE, Ownership
from app.targets.ssh.connect import AGAIN, BESIDE, HURRIED, USUAL, Patience, connected, connected_beside, heed
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.loop import Loop
from app.targets.ssh.script import ShellScript, script, text_of
from app.targets.ssh.tunnel import Tunnel
from app.text.clean import clean

Heard = Callable[[str], None]

_SECONDS = 30.0
_GRACE = 10.0
"""Added to the time limit that the host itself enforces."""
_MOST = 192 * 1024 * 1024
_MOST_ERR = 8 * 1024
_LONGEST_LINE = 400
_ENDED_BY_LIMIT = (124, 137)
_TAKEN_OVER = (97, "temper: taken over")


@dataclass(frozen=True)
class LineAnswer:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")


class _NotBegun(Unusable):
    def __init__(self, end: Endpoint, last: str) -> None:
        super().__init__(f"{end} does not run our scripts: {last}.")
        self.last = last
        """The last line of what the host printed instead."""


class SshLine:
    """Called from threads, except `run_text_async`. `close` also ends the thread that it started."""

    def __init__(
        self,
        end: Endpoint,
        known_hosts: Path,
        loop: Loop | None = None,
        tunnel: Tunnel | None = None,
        *,
        owned: Ownership = ALONE,
        beside: Callable[[], Awaitable[asyncssh.SSHClientConnection]] | None = None,
    ) -> None:
        """`beside` returns the main connection; if that one is lost, the host is unreachable."""
        self.end = end
        self._owned, self._claim, self._beside = owned, owned.claim, beside
        self._known_hosts = known_hosts
        self._own_loop = loop is None
        self._loop = loop or Loop(str(end))
        self._tunnel = tunnel
        self._connecting = asyncio.Lock()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._hurried = False
        self._answered = False
        """True once a login has succeeded."""
        self._sudo: bool | None = None
        """Whether sudo is needed; None until the host was asked."""

    def log_in(self) -> None:
        self._loop.call(self._connected())

    def become_root(self) -> None:
        """Check once whether we are root, or that sudo works without a password."""
        self._loop.call(self._acts_as_root())

    def run(
        self, name: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, heard: Heard | None = None
    ) -> LineAnswer:
        """Run the script `name` of remote/ as root."""
        return self.say(text_of(name), *arguments, data=data, seconds=seconds, heard=heard)

    def say(
        self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, heard: Heard | None = None
    ) -> LineAnswer:
        """Run script text as root. `heard` receives each line of output, cleaned and cut."""
        return self._loop.call(self._say(text, arguments, data, seconds, heard))

    async def said(self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS) -> LineAnswer:
        """Like `run_text`, for a caller on another event loop."""
        return await self._loop.awaited(self._say(text, arguments, data, seconds, None))

    def of(self, end: Endpoint) -> "SshLine":
        """Return a connection as another account of the same host."""
        return self._another(end)

    def fresh(self) -> "SshLine":
        """Return a second connection with the same login, which meets the current sshd."""
        return self._another(self.end)

    def through(self, name: str, end: Endpoint) -> "SshLine":
        """Return a connection to the program that script `name` starts on the host, tunnelled through this one."""
        self.become_root()
        one = script(text_of(name), (), b"", _SECONDS, sudo=bool(self._sudo))
        return self._another(end, Tunnel(self._connected, one))

    def stands(self) -> None:
        """Raise LineCut if this connection is lost: then a failed second login says nothing about the host."""
        self.say(":")

    def close(self) -> None:
        self._loop.call(self._hung_up())
        if self._own_loop:
            self._loop.close()

    def _another(self, end: Endpoint, tunnel: Tunnel | None = None) -> "SshLine":
        owned = replace(ALONE, hurried=self._owned.hurried)
        return SshLine(end, self._known_hosts, self._loop, tunnel, owned=owned, beside=self._reached)

    async def _say(
        self, text: str, arguments: Sequence[str], data: bytes, seconds: float, heard: Heard | None
    ) -> LineAnswer:
        async with self._or_yields():
            sudo = await self._acts_as_root()
            one = script(text, arguments, data, seconds, sudo=sudo, claim=self._claim)
            return self._heeded(await self._converse(one, seconds, heard), seconds)

    @asynccontextmanager
    async def _or_yields(self) -> AsyncIterator[None]:
        """Give the lease to another node if the host cannot be reached from here; raise Fenced then."""
        try:
            yield
        except LineCut as exc:
            if await asyncio.to_thread(self._owned.yields):
                raise Fenced(str(self.end)) from exc
            raise

    def _heeded(self, said: LineAnswer, seconds: float) -> LineAnswer:
        if said.code in _ENDED_BY_LIMIT:
            raise Unusable(f"{self.end} did not finish within {seconds:g} s; what ran there was ended.")
        if (said.code, said.err.strip()) == _TAKEN_OVER:
            raise Fenced(str(self.end))
        return said

    async def _acts_as_root(self) -> bool:
        """Return True if scripts need sudo, False if we are root; raise Unusable if sudo does not work."""
        if self._sudo is None:
            who = await self._converse(script("id -u", (), b"", _SECONDS, sudo=False), _SECONDS)
            sudo = not (who.code == 0 and who.text.strip() == "0") and await self._has_sudo()
            if self._claim:  # claim before any read, so that a stale owner can change nothing that we have read
                one = script(text_of("claim"), (), b"", _SECONDS, sudo=sudo, claim=self._claim)
                self._heeded(await self._converse(one, _SECONDS), _SECONDS)
            self._sudo = sudo
        return self._sudo

    async def _has_sudo(self) -> bool:
        try:
            tried = await self._converse(script(":", (), b"", _SECONDS, sudo=True), _SECONDS)
        except _NotBegun as exc:
            raise Unusable(self._no_sudo(exc.last)) from exc
        if tried.code != 0:
            raise Unusable(self._no_sudo(tried.err))
        return True

    def _no_sudo(self, why: str) -> str:
        last = (why.strip().splitlines() or ["no reason given"])[-1]
        return f"{self.end}: {self.end.user} may not use sudo without a password ({clean(last, 200)}): allow it there."

    async def _connected(self) -> asyncssh.SSHClientConnection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._logged_in()
                self._answered = True
            elif self._hurried != self._owned.hurried():  # another node joined, or the last other one left
                heed(self._connection, self._patience())
            return self._connection

    async def _reached(self) -> asyncssh.SSHClientConnection:
        async with self._or_yields():
            return await self._connected()

    async def _logged_in(self) -> asyncssh.SSHClientConnection:
        main = await self._beside() if self._beside else None
        opening = connected(self.end, self._known_hosts, self._tunnel, self._patience())
        return await (connected_beside(main, opening) if main else opening)

    def _patience(self) -> Patience:
        self._hurried = self._owned.hurried()
        if not self._hurried:
            return USUAL
        if self._beside:
            return BESIDE
        return AGAIN if self._answered else HURRIED

    async def _hung_up(self) -> None:
        if self._connection is not None:
            self._connection.close()
            with suppress(TimeoutError, OSError, asyncssh.Error):
                await asyncio.wait_for(self._connection.wait_closed(), 2)
            self._connection = None
        if self._tunnel is not None:
            await self._tunnel.close()

    async def _converse(self, one: ShellScript, seconds: float, heard: Heard | None = None) -> LineAnswer:
        try:
            connection = await self._connected()
            async with asyncio.timeout(seconds + _GRACE):
                process = await connection.create_process(one.command, encoding=None)
                async with process:
                    _, out, err = await asyncio.gather(
                        _fed(process, one.stdin), self._answer(process, one.mark, heard), _bounded(process)
                    )
                    await process.wait_closed()
        except TimeoutError as exc:
            await self._dropped()
            raise LineCut(f"{self.end} went silent.") from exc
        except (asyncssh.Error, OSError) as exc:
            await self._dropped()
            raise LineCut(f"the line to {self.end} was cut: {clean(str(exc), 200)}.") from exc
        if process.exit_status is None and process.exit_signal is None:
            await self._dropped()
            raise LineCut(f"the line to {self.end} was cut in mid-command.")
        if out is None:
            last = (err.strip().splitlines() or ["it says nothing"])[-1]
            raise _NotBegun(self.end, clean(last, 200))
        return LineAnswer(128 if process.exit_status is None else process.exit_status, out, clean(err, _MOST_ERR))

    async def _answer(
        self, process: asyncssh.SSHClientProcess[bytes], mark: bytes, heard: Heard | None
    ) -> bytes | None:
        """Return the output after the mark; None if the mark never came."""
        out = bytearray()
        begun, told = -1, 0
        while piece := await process.stdout.read(256 * 1024):
            out += piece
            if len(out) > _MOST:
                process.close()
                raise Unusable(f"{self.end} answers with more than {_MOST // 2**20} MiB; that was not asked for.")
            if begun < 0 and (at := out.find(mark)) >= 0:
                begun = told = at + len(mark)
            while heard and begun >= 0 and (end := out.find(b"\n", told)) >= 0:
                heard(clean(out[told:end].decode("utf-8", "replace"), _LONGEST_LINE))
                told = end + 1
        return bytes(out[begun:]) if begun >= 0 else None

    async def _dropped(self) -> None:
        """Abort without a handshake: the peer would not answer one."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None


async def _fed(process: asyncssh.SSHClientProcess[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionError):  # the process ended early; its exit status says why
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.write_eof()


async def _bounded(process: asyncssh.SSHClientProcess[bytes]) -> str:
    kept = b""
    while piece := await process.stderr.read(64 * 1024):
        kept = (kept + piece)[-_MOST_ERR:]
    return kept.decode("utf-8", "replace")
