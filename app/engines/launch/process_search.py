"""Find processes in /proc: ours by their mark, even if their Temper was killed, and those that listen on a port."""

import asyncio
import os
import signal
import time
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from app.engines.launch.launch_command import MARK
from app.engines.proc_files import (
    PROC,
    iterate_listening_sockets_with_inodes,
    iterate_open_files,
    read_name,
    read_stat_fields_after_name,
)

_ZOMBIE = "Z"
KILL_SECONDS = 10.0
"""Seconds that killed processes may take to disappear."""
_HERE = (
    "0100007F",  # 127.0.0.1
    "00000000",  # every address
    "00000000000000000000000000000000",
    "0000000000000000FFFF00000100007F",  # 127.0.0.1, by IPv6
)
"""Listening addresses that receive requests to 127.0.0.1."""


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


async def end_marked_processes(prefix: str, seconds: float) -> None:
    """Ask the marked processes to end, and kill those that are left after `seconds`."""
    await asyncio.to_thread(signal_marked_processes, prefix, signal.SIGTERM)
    if not await _wait_until_gone(prefix, seconds):
        await asyncio.to_thread(signal_marked_processes, prefix, signal.SIGKILL)
        await _wait_until_gone(prefix, KILL_SECONDS)


async def _wait_until_gone(prefix: str, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not await asyncio.to_thread(find_marked_processes, prefix):
            return True
        await asyncio.sleep(0.1)
    return False


def read_mark(pid: int) -> str:
    """Return the process's mark; empty without one or without permission to read it."""
    try:
        words = (PROC / str(pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return ""
    found = next((word for word in words if word.startswith(f"{MARK}=".encode())), b"")
    return found.decode(errors="replace").partition("=")[2]


def is_alive(pid: int) -> bool:
    return read_stat_fields_after_name(pid)[:1] not in ([], [_ZOMBIE])


def read_start_tick(pid: int) -> int | None:
    """Return the start time in ticks since boot, which with the pid identifies a process; None if it has ended."""
    stat = read_stat_fields_after_name(pid)
    return None if not stat or stat[0] == _ZOMBIE else int(stat[19])


def _iterate_marked_processes(prefix: str) -> Iterator[MarkedProcess]:
    for pid in (int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()):
        if (mark := read_mark(pid)) and mark.startswith(prefix):
            stat = read_stat_fields_after_name(pid)
            if stat and stat[0] != _ZOMBIE:
                yield MarkedProcess(pid, mark, stat[3] == str(pid), _compute_start_time(stat))


def _compute_start_time(stat: list[str]) -> float:
    boot = next(line for line in (PROC / "stat").read_text().splitlines() if line.startswith("btime "))
    return int(boot.split()[1]) + int(stat[19]) / os.sysconf("SC_CLK_TCK")


def find_foreign_listener(port: int, ours: Collection[int]) -> str:
    """Describe another process that listens on the port; empty if only the processes `ours` do."""
    left = {one.link for one in iterate_listening_sockets_with_inodes() if one.port == port and one.address in _HERE}
    left -= {link for pid in ours for link in iterate_open_files(pid)}
    return _describe_socket_holder_or_other_account(left) if left else ""


def _describe_socket_holder_or_other_account(sockets: set[str]) -> str:
    for pid in (int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()):
        if sockets.intersection(iterate_open_files(pid)):
            engine = read_mark(pid).split("/")[1:2]
            what = f", engine {engine[0]} of another Temper" if engine else ""
            return f"process {pid} ({read_name(pid) or 'gone meanwhile'}{what})"
    return "a process of another account"
