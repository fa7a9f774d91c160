"""Builds scripts for the host's /bin/sh, sent over stdin with quoted arguments.

The login shell sees one line that contains only numbers of ours. Output of the login itself (a talkative .bashrc)
ends at a random mark and is ignored.
"""

import secrets
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from app.resources.registry import KINDS

_REMOTE = Path(__file__).parent / "remote"
_KILL_AFTER = 5
_RESOURCES = ("resources", *(kind.name for kind in KINDS), "package_apt", "package_dnf")
_PARTS = {
    "begin": ("service", "boot", *_RESOURCES),
    "clean": ("boot",),
    "close": ("boot",),
    "confirm": ("boot", "service"),
    "examine": ("masks", "denials", "state"),
    "foresee": _RESOURCES,
    "guard": ("boot",),
    "guarded": ("boot",),
    "offers": _RESOURCES,
    "perform": _RESOURCES,
    "ready": ("boot",),
    "reboot": ("boot",),
    "reload": ("service",),
    "restore": ("service", "boot", *_RESOURCES),
    "running": ("service", "mount"),
    "trial": ("service",),
}
"""The parts that a script needs besides the shared one."""


@dataclass(frozen=True)
class ShellScript:
    command: str
    stdin: bytes
    mark: bytes


def load_script(name: str) -> str:
    """Return the text of script `name`, with its shared parts in front."""
    return "".join(read_script_part(one) for one in ("shared", *_PARTS.get(name, ()), name))


def read_script_part(name: str) -> str:
    return (_REMOTE / f"{name}.sh").read_text()


def build_script(
    text: str, arguments: Sequence[str], data: bytes, seconds: float, *, sudo: bool, claim: int = 0
) -> ShellScript:
    mark = f"temper-{secrets.token_hex(12)}"
    begin = f"claim={claim}\nset -- {shlex.join(arguments)}\nprintf '%s\\n' {mark}\n"
    head = f"{begin}{text}".encode("utf-8", "surrogateescape")
    limit = f"timeout -k {_KILL_AFTER} {seconds:.3f} /bin/sh -c 'eval \"$(head -c {len(head)})\"'"
    return ShellScript(f"exec {'sudo -n ' if sudo else ''}{limit}", head + data, f"{mark}\n".encode())
