"""Opening a connection, and every way in which that fails, each with its sentence."""

import os
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from app.errors import BadInput, LineCut, Unusable
from app.targets.ssh.endpoint import Endpoint, given_for, key_pairs, password
from app.targets.ssh.tunnel import Tunnel
from app.text.clean import clean

_LOGIN = 20


@dataclass(frozen=True)
class _Patience:
    """In seconds."""

    connect: float
    alive_every: float
    alive_tries: int


_USUAL, _HURRIED, _AGAIN = _Patience(10, 5, 3), _Patience(8, 1.5, 2), _Patience(4, 1.5, 2)
"""The second is for a line that another node may take over; the third, where the host answered such a line before."""


async def connected(
    end: Endpoint, known_hosts: Path, tunnel: Tunnel | None = None, *, hurried: bool = False, again: bool = False
) -> asyncssh.SSHClientConnection:
    given_for(end, _fingerprints(end, known_hosts), said=False)
    sock = await tunnel.open() if tunnel else None
    patience = (_AGAIN if again else _HURRIED) if hurried else _USUAL
    try:
        return await asyncssh.connect(
            end.address,
            end.port,
            sock=sock,
            config=None,
            known_hosts=str(known_hosts),
            username=end.user,
            **await _with_what(end),
            x509_trusted_certs=None,
            connect_timeout=patience.connect,
            login_timeout=_LOGIN,
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
