"""One reusable SSH connection to a host that runs scripts as root and reconnects when needed."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import asyncssh

from app.errors import ConnectionLost, EnvironmentUnusable, LeaseLost
from app.targets.host_lock import ALONE, Ownership
from app.targets.ssh import connection_opening
from app.targets.ssh.endpoint import Endpoint
from app.targets.ssh.event_loop_thread import EventLoopThread
from app.targets.ssh.host_shell import HostShell, OnLine, ScriptResult, ShellNotStarted, open_host_shell
from app.targets.ssh.shell_script import ShellScript, build_program_command, build_script, load_script
from app.targets.ssh.tunnel_through_remote_script import Tunnel
from app.text.clean import clean_text

_SECONDS = 30.0
_GRACE = 10.0
"""Added to the time limit that the host itself enforces."""
_ENDED_BY_LIMIT = (124, 137)
_TAKEN_OVER = (97, "temper: taken over")


class CommandTimedOut(EnvironmentUnusable):
    """The time limit ended a command on a host that works."""


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
        self._idle: HostShell | None = None
        """A shell on this connection that waits for the next script."""
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
        self._loop.run_coroutine(self._claim_host_and_check_whether_sudo_needed())

    def run(
        self,
        script_name: str,
        *arguments: str,
        data: bytes = b"",
        seconds: float = _SECONDS,
        on_line: OnLine | None = None,
    ) -> ScriptResult:
        """Run the script `script_name` of remote/ as root."""
        return self.run_text(load_script(script_name), *arguments, data=data, seconds=seconds, on_line=on_line)

    def run_text(
        self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, on_line: OnLine | None = None
    ) -> ScriptResult:
        """Run script text as root. `on_line` receives each line of output, cleaned and cut."""
        return self._loop.run_coroutine(self._run_text(text, arguments, data, seconds, on_line))

    async def run_text_async(
        self, text: str, *arguments: str, data: bytes = b"", seconds: float = _SECONDS, on_line: OnLine | None = None
    ) -> ScriptResult:
        """Like `run_text`, for a caller on another event loop; `on_line` is called on the connection's."""
        return await self._loop.run_coroutine_async(self._run_text(text, arguments, data, seconds, on_line))

    def create_connection_as(self, end: Endpoint) -> "SshConnection":
        return self._create_sibling(end)

    def create_fresh_login_connection(self) -> "SshConnection":
        """Return a second connection with the same login, which meets the current sshd."""
        return self._create_sibling(self.end, by_sudo=bool(self._sudo))

    def create_independent_connection(self) -> "SshConnection":
        """Return a connection that stands for itself: it claims nothing, and that it fails says nothing of this one."""
        return SshConnection(self.end, self._known_hosts, self._loop)

    def create_connection_to_script_started_program(self, starting_script_name: str, end: Endpoint) -> "SshConnection":
        """Return a connection, tunnelled through this one, to the program that the script starts on the host."""
        self.become_root()
        program = build_program_command(starting_script_name, _SECONDS, sudo=bool(self._sudo))
        return self._create_sibling(end, Tunnel(self._get_connection, program))

    def assert_alive(self) -> None:
        """Raise ConnectionLost if this connection is lost: then a failed second login says nothing about the host."""
        self.run_text(":")

    def drop(self) -> None:
        """Let the connection go without a word; the next script opens another."""
        self._loop.run_coroutine(self._abort_connection())

    def close(self) -> None:
        self._loop.run_coroutine(self._close_connection())
        if self._own_loop:
            self._loop.close()

    def _create_sibling(self, end: Endpoint, tunnel: Tunnel | None = None, *, by_sudo: bool = False) -> "SshConnection":
        owned, beside = (
            replace(ALONE, has_other_nodes=self._owned.has_other_nodes),
            self._get_main_connection_for_sibling_to_watch,
        )
        return SshConnection(end, self._known_hosts, self._loop, tunnel, owned=owned, beside=beside, by_sudo=by_sudo)

    async def _run_text(
        self, text: str, arguments: Sequence[str], data: bytes, seconds: float, on_line: OnLine | None
    ) -> ScriptResult:
        async with self._hand_over_lease_if_unreachable():
            sudo = await self._claim_host_and_check_whether_sudo_needed()
            script = build_script(text, arguments, data, seconds, self._claim)
            return self._raise_if_timed_out_or_fenced(
                await self._run_script(script, seconds, on_line, sudo=sudo), seconds
            )

    @asynccontextmanager
    async def _hand_over_lease_if_unreachable(self) -> AsyncIterator[None]:
        """Give the lease to another node if the host cannot be reached from here; raise LeaseLost then."""
        try:
            yield
        except ConnectionLost as exc:
            if await asyncio.to_thread(self._owned.hand_over):
                raise LeaseLost(str(self.end)) from exc
            raise

    def _raise_if_timed_out_or_fenced(self, result: ScriptResult, seconds: float) -> ScriptResult:
        if result.code in _ENDED_BY_LIMIT:
            raise CommandTimedOut(f"{self.end} did not finish within {seconds:g} s; Temper ended the command.")
        if (result.code, result.err.strip()) == _TAKEN_OVER:
            raise LeaseLost(str(self.end))
        return result

    async def _claim_host_and_check_whether_sudo_needed(self) -> bool:
        """Return True if scripts need sudo, False if we are root; raise EnvironmentUnusable if sudo does not work."""
        if self._sudo is None:
            sudo = self._by_sudo or not await self._is_root()
            # Claim before any read, so that a stale owner can change nothing that we have read.
            if sudo or self._claim:
                first = build_script(load_script("claim") if self._claim else ":", (), b"", _SECONDS, self._claim)
                self._raise_if_timed_out_or_fenced(await self._run_script(first, _SECONDS, sudo=sudo), _SECONDS)
            self._sudo = sudo
        return self._sudo

    async def _is_root(self) -> bool:
        who = await self._run_script(build_script("id -u", (), b"", _SECONDS), _SECONDS, sudo=False)
        return who.code == 0 and who.text.strip() == "0"

    async def _get_connection(self) -> asyncssh.SSHClientConnection:
        async with self._connecting:
            if self._connection is None or self._connection.is_closed():
                self._idle = None
                self._connection = await self._open_connection()
                self._answered = True
            elif self._hurried != self._owned.has_other_nodes():  # another node joined, or the last other one left
                connection_opening.set_keepalive(self._connection, self._choose_timeouts_by_other_nodes())
            return self._connection

    async def _get_main_connection_for_sibling_to_watch(self) -> asyncssh.SSHClientConnection:
        async with self._hand_over_lease_if_unreachable():
            return await self._get_connection()

    async def _open_connection(self) -> asyncssh.SSHClientConnection:
        main = await self._beside() if self._beside else None
        timeouts = self._choose_timeouts_by_other_nodes()
        opening = connection_opening.open_ssh_connection(self.end, self._known_hosts, self._tunnel, timeouts)
        return await (connection_opening.await_opening_unless_main_closes(main, opening) if main else opening)

    def _choose_timeouts_by_other_nodes(self) -> connection_opening.Timeouts:
        self._hurried = self._owned.has_other_nodes()
        if not self._hurried:
            return connection_opening.NORMAL_TIMEOUTS
        if self._beside:
            return connection_opening.SECOND_LINE_TIMEOUTS
        return connection_opening.RECONNECT_TIMEOUTS if self._answered else connection_opening.SHORT_TIMEOUTS

    async def _close_connection(self) -> None:
        self._idle = None
        if self._connection is not None:
            self._connection.close()
            with suppress(TimeoutError, OSError, asyncssh.Error):
                async with asyncio.timeout(2):
                    await self._connection.wait_closed()
            self._connection = None
        if self._tunnel is not None:
            await self._tunnel.close()

    async def _run_script(
        self, script: ShellScript, seconds: float, on_line: OnLine | None = None, *, sudo: bool
    ) -> ScriptResult:
        try:
            async with asyncio.timeout(seconds + _GRACE), self._borrow_shell(sudo=sudo) as shell:
                return await shell.run_script(script, on_line)
        except TimeoutError as exc:
            await self._abort_connection()
            raise ConnectionLost(f"{self.end} went silent.") from exc
        except EOFError as exc:
            await self._abort_connection()
            raise ConnectionLost(f"the line to {self.end} was cut in mid-command.") from exc
        except (asyncssh.Error, OSError) as exc:
            await self._abort_connection()
            raise ConnectionLost(f"the line to {self.end} was cut: {clean_text(str(exc), 200)}.") from exc

    @asynccontextmanager
    async def _borrow_shell(self, *, sudo: bool) -> AsyncIterator[HostShell]:
        """Yield a shell that nobody else uses; keep one for the next script. EnvironmentUnusable if none starts."""
        connection = await self._get_connection()
        shell, self._idle = self._idle, None
        if shell is not None and (shell.sudo != sudo or not shell.is_open):
            shell.close()
            shell = None
        if shell is None:
            try:
                shell = await open_host_shell(connection, sudo=sudo)
            except ShellNotStarted as exc:
                raise EnvironmentUnusable(self._describe_shell_failure(str(exc), sudo=sudo)) from exc
        try:
            yield shell
        except BaseException:
            shell.close()
            raise
        if self._idle is None and connection is self._connection:
            self._idle = shell
        else:
            shell.close()

    def _describe_shell_failure(self, reason: str, *, sudo: bool) -> str:
        if sudo:
            return f"{self.end}: {self.end.user} may not use sudo without a password ({reason}): allow it there."
        return f"{self.end} does not run our scripts: {reason}."

    async def _abort_connection(self) -> None:
        """Abort without a handshake: the peer would not answer one."""
        self._idle = None
        if self._connection is not None:
            self._connection.abort()
            self._connection = None
