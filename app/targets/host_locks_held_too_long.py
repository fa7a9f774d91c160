"""Hosts that a process of this machine keeps others from changing, by the kernel's own list of locks."""

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from app.targets.host_lock import CHANGE_LOCK

HELD_LONG = 10.0
"""Seconds that a process may hold a host's lock while another waits; an orderly handover takes less."""


@dataclass(frozen=True)
class StuckHost:
    host: str
    pid: int
    since: float
    """By the clock of this machine."""
    stopped: bool
    """Stopped by a signal: the process does nothing until it is resumed."""
    waiting: tuple[int, ...]

    @property
    def sentence(self) -> str:
        how, way_on = "is not through with it", "wait, or, if its run makes no progress, "
        if self.stopped:
            how, way_on = "is stopped", f"resume it with kill -CONT {self.pid}, or "
        held = f"process {self.pid} has held host {self.host} for {time.time() - self.since:.0f} s and {how}"
        return f"{held}, and process {self.waiting[0]} waits: {way_on}end it with kill -9 {self.pid}"


def find_hosts_held_long_while_others_wait(
    hosts_folder: Path, held_longer_than: float = HELD_LONG, list_of_locks: Path = Path("/proc/locks")
) -> list[StuckHost]:
    """Return the hosts that a process has held for so long while another waits, the longest first."""
    waiting: dict[int, list[int]] = {}
    holders: dict[int, list[int]] = {}
    for inode, pid, waits in _iterate_flock_inode_pid_and_waits(list_of_locks):
        (waiting if waits else holders).setdefault(inode, []).append(pid)
    if not waiting:
        return []  # the folders of a thousand hosts are not looked through for nothing
    late, found = time.time() - held_longer_than, []
    for file in hosts_folder.glob(f"*/{CHANGE_LOCK}"):
        try:
            told = file.stat()
        except FileNotFoundError:
            continue  # the host was removed meanwhile
        waits_here = sorted(pid for pid in waiting.get(told.st_ino, ()) if _has_open_file(pid, told))
        if not waits_here or told.st_mtime > late:
            continue
        found += [
            StuckHost(file.parent.name, pid, told.st_mtime, _is_process_suspended(pid), tuple(waits_here))
            for pid in holders.get(told.st_ino, ())
            if _has_open_file(pid, told)
        ]
    return sorted(found, key=lambda one: one.since)


def _iterate_flock_inode_pid_and_waits(list_of_locks: Path) -> Iterator[tuple[int, int, bool]]:
    """Inode, process, and whether that waits for it."""
    try:
        lines = list_of_locks.read_text().splitlines()
    except OSError:
        return
    for line in lines:
        words = line.replace("->", "").split()
        if len(words) > 5 and words[1] == "FLOCK":
            yield int(words[5].rpartition(":")[2]), int(words[4]), "->" in line


def _has_open_file(pid: int, file: os.stat_result) -> bool:
    """Return True if the process has the file open.

    A file of another file system can have the same inode, and on btrfs the list's device is not the one of stat.
    """
    try:
        descriptors = list(Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False  # it ended meanwhile, or belongs to another account
    for descriptor in descriptors:
        with suppress(OSError):  # closed meanwhile
            if os.path.samestat(descriptor.stat(), file):
                return True
    return False


def _is_process_suspended(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "Tt"
    except OSError:
        return False
