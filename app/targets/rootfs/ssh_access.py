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
_PORTS, _TRIES = range(20_000, 32_768), 20


@dataclass(frozen=True)
class SshAccess:
    port: int
    account: str
    key: Path
    known_hosts: Path


def choose_port(previous: int) -> int:
    """Return the previous port if it is free, so that saved addresses stay valid; else a free one.

    Linux does not give these to outgoing connections, one of which could have the port when the machine starts again.
    """
    for wanted in (previous or _pick_port(), *(_pick_port() for _ in range(_TRIES)), 0):
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(one.getsockname()[1])
    raise EnvironmentUnusable("This machine has no free port on loopback.")


def _pick_port() -> int:
    return secrets.choice(_PORTS)


def format_known_hosts(port: int, public_keys: Iterable[str]) -> str:
    return "".join(f"[127.0.0.1]:{port} {' '.join(key.split()[:2])}\n" for key in public_keys)


def wait_for_sshd(port: int, seconds: float, is_up: Callable[[], bool]) -> bool:
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
