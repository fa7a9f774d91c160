"""The processes that hold a GPU's memory, identified through this machine's /proc."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from app.events.words import GpuProcess
from app.machine.gpus.reading import gib
from app.text.clean import clean

OUTSIDE = "outside this container"
_FIRST_NAMESPACE = "pid:[4026531836]"
"""Inode of the initial PID namespace, a constant in the kernel."""
_NAME = 40

Owner = Callable[[int], str]
"""Returns the engine of a process, or an empty string."""


def nobody(_: int) -> str:
    return ""


class Holders:
    def __init__(self, owner: Owner = nobody, proc: Path = Path("/proc")) -> None:
        self._owner, self._proc = owner, proc
        self._nested = _link(proc / "self" / "ns" / "pid") != _FIRST_NAMESPACE

    def known(self, told: Iterable[Any]) -> tuple[GpuProcess, ...]:
        """Return each process once: it may be listed for compute and for graphics."""
        once = {process.pid: process.usedGpuMemory for process in told}
        return tuple(self._known(pid, used) for pid, used in sorted(once.items()))

    def _known(self, pid: int, used: int | None) -> GpuProcess:
        held = None if used is None else gib(used)
        if not self._here(pid):
            return GpuProcess(pid, held, name=OUTSIDE)
        return GpuProcess(pid, held, self._owner(pid), self._name(pid))

    def _here(self, pid: int) -> bool:
        """Return True if the pid is visible here: NVML reports host pids, which may be reused inside a container."""
        folder = self._proc / str(pid)
        return (not self._nested or _holds_gpu(folder)) and folder.exists()

    def _name(self, pid: int) -> str:
        try:
            return clean((self._proc / str(pid) / "comm").read_text(errors="replace").strip(), _NAME)
        except OSError:
            return ""


def _holds_gpu(folder: Path) -> bool:
    try:
        return any(_link(file).startswith("/dev/nvidia") for file in (folder / "fd").iterdir())
    except OSError:
        return False


def _link(path: Path) -> str:
    try:
        return str(path.readlink())
    except OSError:
        return ""
