"""The host's memory, for a GPU that shares it."""

from pathlib import Path
from typing import NamedTuple

from app.machine.gpus.gpu_reading import to_gib

MEMINFO = Path("/proc/meminfo")
KIB = 1024


class HostMemory(NamedTuple):
    used_gib: float | None = None
    total_gib: float | None = None


def read_host_memory(meminfo: Path = MEMINFO) -> HostMemory:
    """Read used and total memory. Page cache counts as free, because it can be reclaimed."""
    try:
        lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines() if ":" in line)
        total, free = (int(lines[name].split()[0]) * KIB for name in ("MemTotal", "MemAvailable"))
    except (OSError, KeyError, ValueError, IndexError):
        return HostMemory()
    return HostMemory(to_gib(total - free), to_gib(total))
