"""Opens SSH connections and translates every failure into a TemperError."""

import asyncio
import os
import socket
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import asyncssh

from app.errors import BadInput, ConnectionLost, EnvironmentUnusable
from app.targets.ssh.endpoint import Endpoint, check_environment_password_host, load_key_pairs, read_password
from app.targets.ssh.tunnel_through_remote_script import Tunnel
from app.text.clean import clean_text


@dataclass(frozen=True)
class Timeouts:
    """Timeouts in seconds. A command on an open connection has no limit from here."""

    answer: float
    """Until the host's kernel accepts the connection."""
    login: float
    """From there until the login is complete."""
    alive_every: float
    alive_tries: int

    @property
    def silence_limit(self) -> float:
        """Seconds of silence after which a host counts as unreachable, during a login or a command."""
        return self.alive_every * (self.alive_tries + 1)


NORMAL_TIMEOUTS = Timeouts(answer=10, login=20, alive_every=5, alive_tries=3)
SHORT_TIMEOUTS = Timeouts(answer=4, login=6, alive_every=1.5, alive_tries=2)
"""Used while another node can take over within ten seconds. The last node to try uses NORMAL_TIMEOUTS."""
RECONNECT_TIMEOUTS = replace(SHORT_TIMEOUTS, answer=2, login=3)
"""Used to reconnect: most of the waiting time is already spent."""
SECOND_LINE_TIMEOUTS = replace(SHORT_TIMEOUTS, login=20)
"""Used for a second connection, which ends with the first one: the host can be slow but not unreachable."""


async def await_opening_unless_main_closes(
    main: asyncssh.SSHClientConnection, opening: Coroutine[None, None, asyncssh.SSHClientConnection]
) -> asyncssh.SSHClientConnection:
    """Await `opening` and return its connection; raise ConnectionLost if the main connection closes first."""
    opened, ended = asyncio.create_task(opening), asyncio.create_task(main.wait_closed())
    try:
        await asyncio.wait((opened, ended), return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            raise ConnectionLost("the line to the host was cut while another was opened.")
        return opened.result()
    finally:
        opened.cancel()
        ended.cancel()
        await asyncio.gather(opened, ended, return_exceptions=True)


async def open_ssh_connection(
    end: Endpoint, known_hosts: Path, tunnel: Tunnel | None = None, timeouts: Timeouts = NORMAL_TIMEOUTS
) -> asyncssh.SSHClientConnection:
    check_environment_password_host(end, _list_fingerprints_if_password_login(end, known_hosts), must_name_host=False)
    way_in = await _choose_credentials(end)
    sock = await tunnel.open() if tunnel else None
    try:
        async with asyncio.timeout(timeouts.answer) as limit:
            return await asyncssh.connect(
                end.address,
                end.port,
                sock=sock,
                config=None,
                known_hosts=str(known_hosts),
                username=end.user,
                **way_in,
                x509_trusted_certs=None,
                client_factory=partial(_ClientCallbacks, limit, timeouts),
                login_timeout=0,
                keepalive_interval=timeouts.alive_every,
                keepalive_count_max=timeouts.alive_tries,
            )
    except asyncssh.HostKeyNotVerifiable as exc:
        raise EnvironmentUnusable(
            f"{end} shows a different host key from the accepted one: another machine may be answering. "
            "If the key was changed on purpose, remove the host and add it again."
        ) from exc
    except asyncssh.PermissionDenied as exc:
        why = _describe_error(exc)
        raise EnvironmentUnusable(f"{end} refuses the login of {end.user} with its {end.way}: {why}.") from exc
    except (asyncssh.Error, OSError, TimeoutError) as exc:
        if tunnel:
            why = tunnel.last_error_line or _describe_error(exc)
            raise ConnectionLost(f"{end} does not answer a login inside of the line: {why}") from exc
        raise ConnectionLost(f"{end} does not answer: {_describe_error(exc)}. Is it up, and sshd with it?") from exc


def set_keepalive(connection: asyncssh.SSHClientConnection, timeouts: Timeouts) -> None:
    """Set SSH keepalive, and TCP keepalive so that a silent login ends as well."""
    connection.set_keepalive(timeouts.alive_every, timeouts.alive_tries)
    sock: socket.socket | None = connection.get_extra_info("socket")
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return  # a tunnelled connection: its outer connection has the keepalive
    every = max(1, int(timeouts.alive_every))
    for option, value in (
        (socket.TCP_KEEPIDLE, every),
        (socket.TCP_KEEPINTVL, every),
        (socket.TCP_USER_TIMEOUT, int(timeouts.silence_limit * 1000)),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


class _ClientCallbacks(asyncssh.SSHClient):
    def __init__(self, limit: asyncio.Timeout, patience: Timeouts) -> None:
        self._limit, self._patience = limit, patience

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        set_keepalive(conn, self._patience)
        self._limit.reschedule(asyncio.get_running_loop().time() + self._patience.login)


async def fetch_host_key(address: str, port: int) -> asyncssh.SSHKey:
    """Return the host key that the server presents; raise BadInput if there is none. Its owner is not verified."""
    try:
        found = await asyncssh.get_server_host_key(address, port, config=None)
    except (asyncssh.Error, OSError, TimeoutError) as exc:
        raise BadInput(f"{address}:{port} does not answer as an SSH server: {_describe_error(exc)}.") from exc
    if found is None:
        raise BadInput(f"{address}:{port} shows no host key.")
    return found


def _list_fingerprints_if_password_login(end: Endpoint, known_hosts: Path) -> list[str]:
    """Return fingerprints of the accepted host keys; empty unless the login uses a password."""
    if end.way != "password":
        return []
    try:
        return [key.get_fingerprint() for key in list_known_keys(end, known_hosts)]
    except (OSError, ValueError) as exc:
        raise EnvironmentUnusable(f"{known_hosts} cannot be read as a known_hosts file: {exc}.") from exc


def list_known_keys(end: Endpoint, known_hosts: Path) -> Sequence[asyncssh.SSHKey]:
    """Return the keys of the host, by its port first; raise OSError or ValueError for an unreadable file."""
    listed = asyncssh.read_known_hosts(str(known_hosts))
    return listed.match(end.address, "", end.port)[0] or listed.match(end.address, "", None)[0]


async def _choose_credentials(end: Endpoint) -> dict[str, object]:
    """Return asyncssh options for exactly one login method; ~/.ssh and a running agent are otherwise ignored."""
    alone: dict[str, object] = {"client_keys": None, "agent_path": None, "password": None}
    match end.way:
        case "key":
            return {**alone, "client_keys": load_key_pairs(end), "preferred_auth": "publickey"}
        case "agent":
            return {**alone, "client_keys": await _require_agent_keys(), "preferred_auth": "publickey"}
        case "password":
            return {**alone, "password": read_password(end), "preferred_auth": "password,keyboard-interactive"}


async def _require_agent_keys() -> list[asyncssh.SSHKeyPair]:
    at = os.environ.get("SSH_AUTH_SOCK", "")
    try:
        agent = await asyncssh.connect_agent(at)
        found = list(await agent.get_keys())
    except (OSError, ValueError, asyncssh.Error) as exc:
        where = at or "not set"
        raise EnvironmentUnusable(f"no agent answers at SSH_AUTH_SOCK ({where}): {_describe_error(exc)}.") from exc
    if not found:
        raise EnvironmentUnusable("the agent has no key: add one with ssh-add.")
    return found


def _describe_error(exc: BaseException) -> str:
    return clean_text(getattr(exc, "reason", "") or str(exc) or type(exc).__name__, 200).strip().rstrip(".")
