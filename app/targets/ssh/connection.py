"""One reusable SSH connection to a host that runs scripts as root and reconnects when needed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path

import asyncssh

from app.errors import ConnectionLost, EnvironmentUnusable, LeaseLost
from app.targets.host_lock import ALONE, Ownership
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.event_loop_thread import EventLoopThread
from app.targets.ssh.host_script_output import HostReport, parse_host_report
from app.targets.ssh.shell_script import ShellScript, build_script, load_script
from app.targets.ssh.transport import (
    NORMAL_TIMEOUTS,
    RECONNECT_TIMEOUTS,
    SECOND_LINE_TIMEOUTS,
    SHORT_TIMEOUTS,
    Timeouts,
    open_second_connection,
    open_ssh_connection,
    set_keepalive,
)
from app.targets.ssh.tunnel import Tunnel
from app.text.clean import clean_text, get_last_line

OnLine = Callable[[str], None]

_SECONDS = 30.0
_GRACE = 10.0
"""Added to the time limit that the host itself enforces."""
_MOST = 192 * 1024 * 1024
_MOST_ERR = 8 * 1024
_LONGEST_LINE, _LONGEST_REASON = 400, 300
_ENDED_BY_LIMIT = (124, 137)
_TAKEN_OVER = (97, "temper: taken over")


@dataclass(frozen=True)
class ScriptResult:
    code: int
    out: bytes
    err: str

    @property
    def text(self) -> str:
        return self.out.decode("utf-8", "replace")

    @property
    def report(self) -> HostReport:
        return parse_host_report(self.text.splitlines())

    @property
    def reason(self) -> str:
        return clean_text(self.err.strip(), _LONGEST_REASON) or "no reason given"


class _ScriptNotStarted(EnvironmentUnusable):
    def __init__(self, end: Endpoint, last: str) -> None:
        super().__init__(f"{end} does not run our scripts: {last}.")
        self.last = last
        """The last line of what the host printed instead."""


class SshConnection:
    """Called from threads, except `run_text_async`. `close` also ends the thread that it started."""

    def __init__(
        self,
        end: Endpoint,
        known_hosts: Path,
        loop: EventLoopThread | None = None,
        tunnel: Tunnel | None = None,
        *,
        owned: Ownership = ALONE,
        beside: Callable[[], Awaitable[asyncssh.SSHClientConnection]] | None = None,
        by_sudo: bool = False,
    ) -> None:
        """`beside` returns the main connection; if that one is lost, the host is unreachable.

        `by_sudo`: it is known that the account is not root, so sudo has to work.
        """
        self.end = end
        self._owned, self._claim, self._beside = owned, owned.fencing_token, beside
        self._known_hosts = known_hosts
        self._own_loop = loop is None
        self._loop = loop or EventLoopThread(str(end))
        self._tunnel = tunnel
        self._connecting = asyncio.Lock()
        self._connection: asyncssh.SSHClientConnection | None = None
        self._hurried = False
        self._answered = False
        """True once a login has succeeded."""
        self._by_sudo = by_sudo
        self._sudo: bool | None = None
        """Whether sudo is needed; None until the host was asked."""

    def log_in(self) -> None:
        self._loop.run_coroutine(self._get_connection())

    def become_root(self) -> None:
        """Check once whether we are root, or that sudo works without a password."""
        self._loop.run_coroutine(self._ensure_root_access())

    def run(
        self, name: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, on_line: OnLine | None = None
    ) -> ScriptResult:
        """Run the script `name` of remote/ as root."""
        return self.run_text(load_script(name), *arguments, data=data, seconds=seconds, on_line=on_line)

    def run_text(
        self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, on_line: OnLine | None = None
    ) -> ScriptResult:
        """Run script text as root. `on_line` receives each line of output, cleaned and cut."""
        return self._loop.run_coroutine(self._run_text(text, arguments, data, seconds, on_line))

    async def run_text_async(
        self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, heard: OnLine | None = None
    ) -> ScriptResult:
        """Like `run_text`, for a caller on another event loop; `heard` is called on the connection's."""
        return await self._loop.run_coroutine_async(self._run_text(text, arguments, data, seconds, heard))

    def connect_as(self, end: Endpoint) -> "SshConnection":
        return self._create_sibling(end)

    def create_second(self) -> "SshConnection":
        """Return a second connection with the same login, which meets the current sshd."""
        return self._create_sibling(self.end, by_sudo=bool(self._sudo))

    def create_lone(self) -> "SshConnection":
        """Return a connection that stands for itself: it claims nothing, and that it fails says nothing of this one."""
        return SshConnection(self.end, self._known_hosts, self._loop)

    def connect_through(self, name: str, end: Endpoint) -> "SshConnection":
        """Return a connection to the program that script `name` starts on the host, tunnelled through this one."""
        self.become_root()
        one = build_script(load_script(name), (), b"", _SECONDS, sudo=bool(self._sudo))
        return self._create_sibling(end, Tunnel(self._get_connection, one))

    def assert_alive(self) -> None:
        """Raise LineCut if this connection is lost: then a failed second login says nothing about the host."""
        self.run_text(":")

    def drop(self) -> None:
        """Let the connection go without a word; the next script opens another."""
        self._loop.run_coroutine(self._abort_connection())

    def close(self) -> None:
        self._loop.run_coroutine(self._close_connection())
        if self._own_loop:
            self._loop.close()

    def _create_sibling(self, end: Endpoint, tunnel: Tunnel | None = None, *, by_sudo: bool = False) -> "SshConnection":
        owned, beside = replace(ALONE, has_other_nodes=self._owned.has_other_nodes), self._get_main_connection
        return SshConnection(end, self._known_hosts, self._loop, tunnel, owned=owned, beside=beside, by_sudo=by_sudo)

    async def _run_text(
        self, text: str, arguments: Sequence[str], data: bytes, seconds: float, on_line: OnLine | None
    ) -> ScriptResult:
        async with self._yielding_lease():
            sudo = await self._ensure_root_access()
            one = build_script(text, arguments, data, seconds, sudo=sudo, claim=self._claim)
            return self._check_result(await self._run_script(one, seconds, on_line), seconds)

    @asynccontextmanager
    async def _yielding_lease(self) -> AsyncIterator[None]:
        """Give the lease to another node if the host cannot be reached from here; raise Fenced then."""
        try:
            yield
        except ConnectionLost as exc:
            if await asyncio.to_thread(self._owned.hand_over):
                raise LeaseLost(str(self.end)) from exc
            raise

    def _check_result(self, said: ScriptResult, seconds: float) -> ScriptResult:
        if said.code in _ENDED_BY_LIMIT:
            raise EnvironmentUnusable(f"{self.end} did not finish within {seconds:g} s; Temper ended the command.")
        if (said.code, said.err.strip()) == _TAKEN_OVER:
            raise LeaseLost(str(self.end))
        return said

    async def _ensure_root_access(self) -> bool:
        """Return True if scripts need sudo, False if we are root; raise Unusable if sudo does not work."""
        if self._sudo is None:
            sudo = self._by_sudo or not await self._is_root()
            if sudo:
                await self._verify_sudo()
            if self._claim:  # claim before any read, so that a stale owner can change nothing that we have read
                one = build_script(load_script("claim"), (), b"", _SECONDS, sudo=sudo, claim=self._claim)
                self._check_result(await self._run_script(one, _SECONDS), _SECONDS)
            self._sudo = sudo
        return self._sudo

    async def _is_root(self) -> bool:
        who = await self._run_script(build_script("id -u", (), b"", _SECONDS, sudo=False), _SECONDS)
        return who.code == 0 and who.text.strip() == "0"

    async def _verify_sudo(self) -> None:
        try:
            tried = await self._run_script(build_script(":", (), b"", _SECONDS, sudo=True), _SECONDS)
        except _ScriptNotStarted as exc:
            raise EnvironmentUnusable(self._describe_sudo_failure(exc.last)) from exc
        if tried.code != 0:
            raise EnvironmentUnusable(self._describe_sudo_failure(tried.err))

    def _describe_sudo_failure(self, why: str) -> str:
        last = get_last_line(why, 200) or "no reason given"
        return f"{self.end}: {self.end.user} may not use sudo without a password ({last}): allow it there."

    async def _get_connection(self) -> asyncssh.SSHClientConnection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed():
                self._connection = await self._open_connection()
                self._answered = True
            elif self._hurried != self._owned.has_other_nodes():  # another node joined, or the last other one left
                set_keepalive(self._connection, self._select_timeouts())
            return self._connection

    async def _get_main_connection(self) -> asyncssh.SSHClientConnection:
        async with self._yielding_lease():
            return await self._get_connection()

    async def _open_connection(self) -> asyncssh.SSHClientConnection:
        main = await self._beside() if self._beside else None
        opening = open_ssh_connection(self.end, self._known_hosts, self._tunnel, self._select_timeouts())
        return await (open_second_connection(main, opening) if main else opening)

    def _select_timeouts(self) -> Timeouts:
        self._hurried = self._owned.has_other_nodes()
        if not self._hurried:
            return NORMAL_TIMEOUTS
        if self._beside:
            return SECOND_LINE_TIMEOUTS
        return RECONNECT_TIMEOUTS if self._answered else SHORT_TIMEOUTS

    async def _close_connection(self) -> None:
        if self._connection is not None:
            self._connection.close()
            with suppress(TimeoutError, OSError, asyncssh.Error):
                async with asyncio.timeout(2):
                    await self._connection.wait_closed()
            self._connection = None
        if self._tunnel is not None:
            await self._tunnel.close()

    async def _run_script(self, one: ShellScript, seconds: float, on_line: OnLine | None = None) -> ScriptResult:
        try:
            connection = await self._get_connection()
            async with asyncio.timeout(seconds + _GRACE):
                process = await connection.create_process(one.command, encoding=None)
                async with process:
                    _, out, err = await asyncio.gather(
                        _write_stdin(process, one.stdin),
                        self._read_output(process, one.mark, on_line),
                        _read_stderr_tail(process),
                    )
                    await process.wait_closed()
        except TimeoutError as exc:
            await self._abort_connection()
            raise ConnectionLost(f"{self.end} went silent.") from exc
        except (asyncssh.Error, OSError) as exc:
            await self._abort_connection()
            raise ConnectionLost(f"the line to {self.end} was cut: {clean_text(str(exc), 200)}.") from exc
        if process.exit_status is None and process.exit_signal is None:
            await self._abort_connection()
            raise ConnectionLost(f"the line to {self.end} was cut in mid-command.")
        if out is None:
            raise _ScriptNotStarted(self.end, get_last_line(err, 200) or "it says nothing")
        code = 128 if process.exit_status is None else process.exit_status
        return ScriptResult(code, out, clean_text(err, _MOST_ERR))

    async def _read_output(
        self, process: asyncssh.SSHClientProcess[bytes], mark: bytes, on_line: OnLine | None
    ) -> bytes | None:
        """Return the output after the mark; None if the mark never came."""
        out = bytearray()
        begun, told = -1, 0
        while piece := await process.stdout.read(256 * 1024):
            out += piece
            if len(out) > _MOST:
                process.close()
                size = f"{_MOST // 2**20} MiB"
                raise EnvironmentUnusable(
                    f"{self.end} answered with more than {size}, which is more than Temper asked for."
                )
            if begun < 0 and (at := out.find(mark)) >= 0:
                begun = told = at + len(mark)
            while on_line and begun >= 0 and (end := out.find(b"\n", told)) >= 0:
                on_line(clean_text(out[told:end].decode("utf-8", "replace"), _LONGEST_LINE))
                told = end + 1
        return bytes(out[begun:]) if begun >= 0 else None

    async def _abort_connection(self) -> None:
        """Abort without a handshake: the peer would not answer one."""
        if self._connection is not None:
            self._connection.abort()
            self._connection = None


async def _write_stdin(process: asyncssh.SSHClientProcess[bytes], data: bytes) -> None:
    with suppress(BrokenPipeError, ConnectionError):  # the process ended early; its exit status says why
        process.stdin.write(data)
        await process.stdin.drain()
        process.stdin.write_eof()


async def _read_stderr_tail(process: asyncssh.SSHClientProcess[bytes]) -> str:
    kept = b""
    while piece := await process.stderr.read(64 * 1024):
        kept = (kept + piece)[-_MOST_ERR:]
    return kept.decode("utf-8", "replace")
