"""Find processes with our mark in /proc, including those that left their group or whose Temper was killed."""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from app.engines.launch.launch_command import MARK

PROC = Path("/proc")
_ZOMBIE = "Z"


@dataclass(frozen=True)
class MarkedProcess:
    pid: int
    mark: str
    leads: bool
    """True for the session leader, which is the process that we started."""
    started: float
    """Unix time."""


def find_marked_processes(prefix: str) -> list[MarkedProcess]:
    """Return living processes whose mark starts with `prefix`, oldest first."""
    return sorted(_iterate_marked_processes(prefix), key=lambda one: one.started)


def signal_marked_processes(prefix: str, number: signal.Signals) -> int:
    """Send a signal to the marked processes and return how many there were."""
    found = find_marked_processes(prefix)
    for one in found:
        try:
            os.kill(one.pid, number)
        except ProcessLookupError:
            continue
    return len(found)


def read_mark(pid: int) -> str:
    """Return the process's mark; empty without one or without permission to read it."""
    try:
        words = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    found = next((word for word in words if word.startswith(f"{MARK}=".encode())), b"")
    return found.decode(errors="replace").partition("=")[2]


def is_alive(pid: int) -> bool:
    stat = _read_stat(pid)
    return stat is not None and stat[0] != _ZOMBIE


def read_start_tick(pid: int) -> int | None:
    """Return the start time in ticks since boot, which with the pid identifies a process; None if it has ended."""
    stat = _read_stat(pid)
    return None if stat is None or stat[0] == _ZOMBIE else int(stat[19])


def _iterate_marked_processes(prefix: str) -> Iterator[MarkedProcess]:
    wanted = f"{MARK}={prefix}".encode()
    for folder in PROC.iterdir():
        if not folder.name.isdecimal():
            continue
        try:
            environment = (folder / "environ").read_bytes()
        except OSError:  # the process has ended, or belongs to another account
            continue
        if wanted not in environment:
            continue
        mark = next((word for word in environment.split(b"\0") if word.startswith(wanted)), None)
        stat = _read_stat(int(folder.name))
        if mark is None or stat is None or stat[0] == _ZOMBIE:
            continue
        pid = int(folder.name)
        yield MarkedProcess(
            pid, mark.decode(errors="replace").partition("=")[2], stat[3] == str(pid), _compute_start_time(stat)
        )


def _read_stat(pid: int) -> list[str] | None:
    """Return the fields after the name, which may contain any character: state, parent, group, session and so on."""
    try:
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None


def _compute_start_time(stat: list[str]) -> float:
    boot = next(line for line in (PROC / "stat").read_text().splitlines() if line.startswith("btime "))
    return int(boot.split()[1]) + int(stat[19]) / os.sysconf("SC_CLK_TCK")
