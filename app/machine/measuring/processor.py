"""The processor that an engine without a GPU computes on, as the kernel names it."""

import os
from pathlib import Path


def processor(table: Path = Path("/proc/cpuinfo")) -> str:
    """Its name where there is one: an Arm machine's kernel tells none."""
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    cores = f"{os.cpu_count()} cores"
    return f"{name}, {cores}" if name else cores
