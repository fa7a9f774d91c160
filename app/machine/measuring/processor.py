"""The CPU of an engine without a GPU, as the kernel names it."""

import os
from pathlib import Path


def read_cpu_name(table: Path = Path("/proc/cpuinfo")) -> str:
    """Return model name and cores; Arm kernels report no name."""
    try:
        lines = table.read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    name = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    cores = f"{os.cpu_count()} cores"
    return f"{name}, {cores}" if name else cores
