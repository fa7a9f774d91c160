"""The sshd of a disposable machine, on a port of loopback: its address, its keys and whether it answers."""

import secrets
import socket
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from app.errors import EnvironmentUnusable

KEYS = ("temper", "backup")
"""Keys of `temper`, and of root, who logs in as a backup would."""
_PORTS, _TRIES = range(20_000, 32_768), 100
_PATIENCE, _POLL = 5.0, 0.05


@dataclass(frozen=True)
class SshAccess:
    port: int
    account: str
    key: Path
    known_hosts: Path

    @property
    def known_hosts_option(self) -> str:
        """The option of the ssh client, which takes a path with blanks for several unless it is quoted."""
        return f'UserKnownHostsFile="{self.known_hosts}"'


def choose_port(previous: int) -> int:
    """Return the previous port if it is free, so that saved addresses stay valid; else a free one.

    The threads of a machine that was just ended may still hold its port for a moment. Linux does not give ports of
    ours to outgoing connections, one of which could have the port when the machine starts again.
    """
    deadline = time.monotonic() + _PATIENCE
    while previous and time.monotonic() < deadline:
        if _is_port_free(previous):
            return previous
        time.sleep(_POLL)
    for port in (secrets.choice(_PORTS) for _ in range(_TRIES)):
        if _is_port_free(port):
            return port
    raise EnvironmentUnusable("This machine has no free port on loopback.")


def _is_port_free(port: int) -> bool:
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            one.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def format_known_hosts(port: int, public_keys: Iterable[str]) -> str:
    return "".join(f"[127.0.0.1]:{port} {' '.join(key.split()[:2])}\n" for key in public_keys)


def can_reach_sshd_within(port: int, seconds: float, is_up: Callable[[], bool]) -> bool:
    """Wait until sshd sends its first line; return False once the time is over or the machine is down."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and is_up():
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=2) as one:
                if one.recv(4) == b"SSH-":
                    return True
        except OSError:
            pass
        time.sleep(0.02)
    return False
