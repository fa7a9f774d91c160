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
    """A script for a shell that already runs; `mark` surrounds its output."""

    request: bytes
    mark: bytes


@dataclass(frozen=True)
class ShellCommand:
    """A command that reads its script from stdin; `mark` comes before the script's own output."""

    command: str
    request: bytes
    mark: bytes


def load_script(name: str) -> str:
    """Return the text of script `name`, with its shared parts in front."""
    return "".join(read_script_part(one) for one in ("shared", *_PARTS.get(name, ()), name))


def read_script_part(name: str) -> str:
    return (_REMOTE / f"{name}.sh").read_text()


def build_script(text: str, arguments: Sequence[str], data: bytes, seconds: float, claim: int = 0) -> ShellScript:
    """Return a script for the shell that `build_script_server_command` starts, which ends it after `seconds`."""
    mark = _create_mark()
    script = _encode_restoring_undecodable_bytes(f"claim={claim}\nset -- {shlex.join(arguments)}\n{text}")
    head = f"{len(script) + len(data)} {len(script)} {seconds:.3f} {mark}\n"
    return ShellScript(head.encode() + script + data, mark.encode())


def build_script_server_command(*, sudo: bool) -> ShellCommand:
    """Return the command for a shell that runs one script after another."""
    return _build_command(read_script_part("serve"), sudo=sudo)


def build_program_command(script_name: str, seconds: float, *, sudo: bool) -> ShellCommand:
    """Return the command for script `script_name`, whose stdin and stdout its caller keeps."""
    return _build_command(load_script(script_name), sudo=sudo, seconds=seconds)


def _build_command(text: str, *, sudo: bool, seconds: float = 0) -> ShellCommand:
    mark = _create_mark()
    request = _encode_restoring_undecodable_bytes(f"claim=0\nprintf '%s\\n' {mark}\n{text}")
    limit = f"timeout -k {_KILL_AFTER} {seconds:.3f} " if seconds else ""
    command = f"exec {'sudo -n ' if sudo else ''}{limit}/bin/sh -c 'eval \"$(head -c {len(request)})\"'"
    return ShellCommand(command, request, mark.encode())


def _create_mark() -> str:
    return f"temper-{secrets.token_hex(12)}"


def _encode_restoring_undecodable_bytes(script: str) -> bytes:
    return script.encode("utf-8", "surrogateescape")
