"""Run validators of other programs on a host's files inside a sandbox: bubblewrap or proot."""

import os
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from app.text.clean import clean_text

Kind = Literal["bwrap", "proot", "none"]

_SECONDS = 20.0
_MOST_OUTPUT = 16 * 1024
_SYSTEM = ("bin", "lib", "lib64", "sbin")
_ENVIRONMENT = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/", "LANG": "C"}
_WORDS: dict[Kind, str] = {
    "bwrap": "typed file actions; checks run in bubblewrap: no network, own users and processes, /usr read-only",
    "proot": "typed file actions; checks run in proot: another root folder, but no wall against the network",
}


_WORKED: dict[Kind, tuple[str, tuple[int, int] | None]] = {}


@dataclass(frozen=True)
class ProgramOutcome:
    code: int | None
    """None if the program was stopped: it took too long or printed too much."""
    output: str


@dataclass(frozen=True)
class Confinement:
    kind: Kind
    words: str
    program: str = ""

    def run(self, root: Path, command: Sequence[str], seconds: float = _SECONDS) -> ProgramOutcome:
        """Run the command with `root` as its root folder, the system's /usr, and nothing else of this machine."""
        if self.kind == "none":
            raise ValueError("there is no confinement to run in")
        return _run_already_sandboxed_command([self.program, *_WALLS[self.kind](root), *command], seconds)


def identify_build(program: str) -> tuple[int, int] | None:
    """Return an identity that changes when the program is replaced; None if there is no such file."""
    try:
        found = Path(program).stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def detect_confinement() -> Confinement:
    """Return the first sandbox that works. A success is remembered for the lifetime of the process."""
    reasons = []
    for kind, words in _WORDS.items():
        program = shutil.which(kind)
        if program is None:
            reasons.append(f"{kind} is not installed")
            continue
        found = Confinement(kind, words, program)
        build = identify_build(program)
        if _WORKED.get(kind) == (program, build):
            return found
        with tempfile.TemporaryDirectory() as empty:
            tried = found.run(Path(empty), ["/usr/bin/true"])
        if tried.code == 0:
            _WORKED[kind] = program, build
            return found
        reasons.append(f"{kind} does not work here ({clean_text(tried.output.strip(), 80) or 'no answer'})")
    return Confinement("none", f"typed file actions only, with built-in checks: {', '.join(reasons)}")


def _build_bwrap_arguments(root: Path) -> list[str]:
    wall = ["--unshare-user", "--uid", "0", "--gid", "0", "--unshare-net", "--unshare-pid", "--unshare-ipc"]
    wall += ["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--tmpfs", "/", "--ro-bind", "/usr", "/usr"]
    for name in _SYSTEM:
        wall += ["--symlink", f"usr/{name}", f"/{name}"]
    wall += ["--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--dir", "/run/sshd"]  # noqa: S108 (its own /tmp)
    for folder in _list_remaining_root_folders(root):
        wall += ["--ro-bind", str(folder), f"/{folder.name}"]
    return [*wall, "--chdir", "/"]


def _build_proot_arguments(root: Path) -> list[str]:
    wall = ["-0", "-r", str(root), "-w", "/", "-b", "/dev", "-b", "/proc"]
    for name in ("usr", *_SYSTEM):
        if Path("/", name).exists():
            wall += ["-b", f"/{name}"]
    return wall


_WALLS = {"bwrap": _build_bwrap_arguments, "proot": _build_proot_arguments}


def _list_remaining_root_folders(root: Path) -> list[Path]:
    own = ("usr", "dev", "proc", "tmp", "run", *_SYSTEM)
    return sorted(at for at in root.iterdir() if at.is_dir() and not at.is_symlink() and at.name not in own)


def _run_already_sandboxed_command(sandbox_command: list[str], seconds: float) -> ProgramOutcome:
    try:
        process = subprocess.Popen(
            sandbox_command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=_ENVIRONMENT,
            start_new_session=True,
            umask=0o022,  # the host's usual umask, not the strict one of this process
        )
    except OSError as exc:
        return ProgramOutcome(None, f"{sandbox_command[0]} does not start: {exc.strerror}")
    deadline = time.monotonic() + seconds
    with process:
        output, ended = _read_output_and_closing(process, deadline)
        try:
            code = process.wait(max(0.0, deadline - time.monotonic())) if ended else None
        except subprocess.TimeoutExpired:
            code = None
        if code is None:
            _kill_group(process)
    return ProgramOutcome(code, clean_text(output.decode("utf-8", "replace"), _MOST_OUTPUT))


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process group and wait for the end of the pipe, which shows that the last descendant is gone."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    deadline = time.monotonic() + _SECONDS
    while time.monotonic() < deadline and not _read_output_and_closing(process, deadline)[1]:
        pass


def _read_output_and_closing(process: subprocess.Popen[bytes], deadline: float) -> tuple[bytes, bool]:
    """Return the output, and whether the program closed it before the deadline."""
    output = b""
    assert process.stdout
    with selectors.DefaultSelector() as ready:
        ready.register(process.stdout, selectors.EVENT_READ)
        while len(output) < _MOST_OUTPUT and ready.select(max(0.0, deadline - time.monotonic())):
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                return output, True
            output += piece
    return output, False
