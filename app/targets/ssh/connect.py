"""Opening a connection, and every way in which that fails, each with its sentence."""

import asyncio
import os
import socket
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import asyncssh

from app.errors import BadInput, LineCut, Unusable
from app.targets.ssh.endpoint import Endpoint, given_for, key_pairs, password
from app.targets.ssh.tunnel import Tunnel
from app.text.clean import clean


@dataclass(frozen=True)
class Patience:
    """In seconds. What goes by none of these goes on for as long as it likes: the line is up."""

    answer: float
    """Until the host's kernel takes the connection."""
    login: float
    """From there until we are in: a host that is slow may take its time at that."""
    alive_every: float
    alive_tries: int

    @property
    def silence(self) -> float:
        """After which who says nothing is out of reach, whatever the connection was at: a login, a command, nothing."""
        return self.alive_every * (self.alive_tries + 1)


USUAL = Patience(answer=10, login=20, alive_every=5, alive_tries=3)
HURRIED = Patience(answer=4, login=6, alive_every=1.5, alive_tries=2)
"""Where another node may take over, and that within ten seconds. Who is the last to try the host has the usual."""
AGAIN = replace(HURRIED, answer=2, login=3)
"""The line was there and was lost: most of what the host is waited for is over by then."""
BESIDE = replace(HURRIED, login=20)
"""Another line to the host is up, and this one ends with it: that the host is slow is all that it can be."""


async def connected_beside(
    main: asyncssh.SSHClientConnection, opening: Coroutine[None, None, asyncssh.SSHClientConnection]
) -> asyncssh.SSHClientConnection:
    """What is opened next to a line is given up with it: a host that is silent there is silent here."""
    opened, ended = asyncio.create_task(opening), asyncio.create_task(main.wait_closed())
    try:
        await asyncio.wait((opened, ended), return_when=asyncio.FIRST_COMPLETED)
        if not opened.done():
            raise LineCut("the line to the host was cut while another was opened.")
        return opened.result()
    finally:
        opened.cancel()
        ended.cancel()
        await asyncio.gather(opened, ended, return_exceptions=True)


async def connected(
    end: Endpoint, known_hosts: Path, tunnel: Tunnel | None = None, patience: Patience = USUAL
) -> asyncssh.SSHClientConnection:
    given_for(end, _fingerprints(end, known_hosts), said=False)
    sock, way_in = await tunnel.open() if tunnel else None, await _with_what(end)
    try:
        async with asyncio.timeout(patience.answer) as limit:
            return await asyncssh.connect(
                end.address,
                end.port,
                sock=sock,
                config=None,
                known_hosts=str(known_hosts),
                username=end.user,
                **way_in,
                x509_trusted_certs=None,
                client_factory=partial(_Answered, limit, patience),
                login_timeout=0,
                keepalive_interval=patience.alive_every,
                keepalive_count_max=patience.alive_tries,
            )
    except asyncssh.HostKeyNotVerifiable as exc:
        raise Unusable(
            f"{end} shows another host key than the one that was accepted: it may be another machine that answers. "
            "If the key was changed on purpose, remove the host and add it again."
        ) from exc
    except asyncssh.PermissionDenied as exc:
        raise Unusable(f"{end} does not let {end.user} in with its {end.way}: {_said(exc)}.") from exc
    except (asyncssh.Error, OSError, TimeoutError) as exc:
        if tunnel:
            raise LineCut(f"{end} does not answer a login inside of the line: {tunnel.said or _said(exc)}") from exc
        raise LineCut(f"{end} does not answer: {_said(exc)}. Is it up, and sshd with it?") from exc


def heed(connection: asyncssh.SSHClientConnection, patience: Patience) -> None:
    """Both ask a silent host: SSH once we are in, and the kernel all the time, so that a login is cut short as well."""
    connection.set_keepalive(patience.alive_every, patience.alive_tries)
    sock: socket.socket | None = connection.get_extra_info("socket")
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return  # a line inside of another, and that one is asked
    every = max(1, int(patience.alive_every))
    for option, value in (
        (socket.TCP_KEEPIDLE, every),
        (socket.TCP_KEEPINTVL, every),
        (socket.TCP_USER_TIMEOUT, int(patience.silence * 1000)),
    ):
        sock.setsockopt(socket.IPPROTO_TCP, option, value)


class _Answered(asyncssh.SSHClient):
    def __init__(self, limit: asyncio.Timeout, patience: Patience) -> None:
        self._limit, self._patience = limit, patience

    def connection_made(self, conn: asyncssh.SSHClientConnection) -> None:
        heed(conn, self._patience)
        self._limit.reschedule(asyncio.get_running_loop().time() + self._patience.login)


async def shown_key(address: str, port: int) -> asyncssh.SSHKey:
    """The key that the server shows now; whose it is, a person must know."""
    try:
        found = await asyncssh.get_server_host_key(address, port, config=None)
    except (asyncssh.Error, OSError, TimeoutError) as exc:
        raise BadInput(f"{address}:{port} does not answer as an SSH server: {_said(exc)}.") from exc
    if found is None:
        raise BadInput(f"{address}:{port} shows no host key.")
    return found


def _fingerprints(end: Endpoint, known_hosts: Path) -> list[str]:
    """Of the keys that would be accepted."""
    if end.way != "password":
        return []
    try:
        listed = asyncssh.read_known_hosts(str(known_hosts))
    except (OSError, ValueError) as exc:
        raise Unusable(f"{known_hosts} cannot be read as a known_hosts file: {exc}.") from exc
    keys = listed.match(end.address, "", end.port)[0] or listed.match(end.address, "", None)[0]
    return [key.get_fingerprint() for key in keys]


async def _with_what(end: Endpoint) -> dict[str, object]:
    """One way in, and no other: neither the keys in ~/.ssh nor an agent that happens to run."""
    alone: dict[str, object] = {"client_keys": None, "agent_path": None, "password": None}
    match end.way:
        case "key":
            return {**alone, "client_keys": key_pairs(end), "preferred_auth": "publickey"}
        case "agent":
            return {**alone, "client_keys": await _of_agent(), "preferred_auth": "publickey"}
        case "password":
            return {**alone, "password": password(end), "preferred_auth": "password,keyboard-interactive"}


async def _of_agent() -> list[asyncssh.SSHKeyPair]:
    at = os.environ.get("SSH_AUTH_SOCK", "")
    try:
        agent = await asyncssh.connect_agent(at)
        found = list(await agent.get_keys())
    except (OSError, ValueError, asyncssh.Error) as exc:
        raise Unusable(f"no agent answers at SSH_AUTH_SOCK ({at or 'not set'}): {_said(exc)}.") from exc
    if not found:
        raise Unusable("the agent holds no key: add one with ssh-add.")
    return found


def _said(exc: BaseException) -> str:
    return clean(getattr(exc, "reason", "") or str(exc) or type(exc).__name__, 200).strip().rstrip(".")
