"""The processes that hold a GPU's memory, identified through this machine's /proc."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from app.events.vocabulary import GpuProcess
from app.machine.gpus.gpu_reading import to_gib
from app.text.clean import clean_text

OUTSIDE = "outside this container"
_FIRST_NAMESPACE = "pid:[4026531836]"
"""Inode of the initial PID namespace, a constant in the kernel."""
_NAME = 40

Owner = Callable[[int], str]
"""Returns the engine of a process, or an empty string."""


def find_no_owner(_: int) -> str:
    return ""


class GpuProcesses:
    def __init__(self, owner: Owner = find_no_owner, proc: Path = Path("/proc")) -> None:
        self._owner, self._proc = owner, proc
        self._nested = _read_link(proc / "self" / "ns" / "pid") != _FIRST_NAMESPACE

    def identify_processes(self, told: Iterable[Any]) -> tuple[GpuProcess, ...]:
        """Return each process once: it may be listed for compute and for graphics."""
        once = {process.pid: process.usedGpuMemory for process in told}
        return tuple(self._identify_process(pid, used) for pid, used in sorted(once.items()))

    def _identify_process(self, pid: int, used: int | None) -> GpuProcess:
        held = None if used is None else to_gib(used)
        if not self._is_visible(pid):
            return GpuProcess(pid, held, name=OUTSIDE)
        return GpuProcess(pid, held, self._owner(pid), self._read_name(pid))

    def _is_visible(self, pid: int) -> bool:
        """Return True if the pid is visible here: NVML reports host pids, which may be reused inside a container."""
        folder = self._proc / str(pid)
        return (not self._nested or _holds_gpu(folder)) and folder.exists()

    def _read_name(self, pid: int) -> str:
        try:
            return clean_text((self._proc / str(pid) / "comm").read_text(errors="replace").strip(), _NAME)
        except OSError:
            return ""


def _holds_gpu(folder: Path) -> bool:
    try:
        return any(_read_link(file).startswith("/dev/nvidia") for file in (folder / "fd").iterdir())
    except OSError:
        return False


def _read_link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
