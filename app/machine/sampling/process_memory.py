"""Main memory of a process, as the kernel counts it."""

from pathlib import Path

GIB_IN_KB = 1024**2
SOURCE = "VmRSS of its process"


def read_resident_gib(pid: int, proc: Path = Path("/proc")) -> float | None:
    """Return the resident memory, or None if the process ended or is not readable."""
    try:
        lines = (proc / str(pid) / "status").read_text().splitlines()
    except OSError:
        return None
    held = next((line.split()[1] for line in lines if line.startswith("VmRSS:")), None)
    return None if held is None else round(int(held) / GIB_IN_KB, 3)
