"""Main memory of the host and of one process, as the kernel counts it."""

from pathlib import Path
from typing import NamedTuple

from app.engines.proc_files import PROC, find_gib_in_table

MEMINFO = PROC / "meminfo"
RESIDENT_SOURCE = "VmRSS of its process"


class HostMemory(NamedTuple):
    used_gib: float | None = None
    total_gib: float | None = None


def read_used_and_total_host_memory(meminfo: Path = MEMINFO) -> HostMemory:
    """Read used and total memory of the host. Page cache counts as free, because it can be reclaimed."""
    total, free = (find_gib_in_table(meminfo, name) for name in ("MemTotal", "MemAvailable"))
    return HostMemory() if total is None or free is None else HostMemory(round(total - free, 2), round(total, 2))


def find_resident_gib(pid: int, proc: Path = PROC) -> float | None:
    """Return the resident memory, or None if the process ended or is not readable."""
    held = find_gib_in_table(proc / str(pid) / "status", "VmRSS")
    return None if held is None else round(held, 3)
