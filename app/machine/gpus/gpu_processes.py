"""The processes that hold a GPU's memory, identified through this machine's /proc."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from app.engines.proc_files import PROC, list_open_files, read_name
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
    def __init__(self, owner: Owner = find_no_owner, proc: Path = PROC) -> None:
        self._owner, self._proc = owner, proc
        self._nested = _is_in_pid_namespace(proc)

    def identify_processes(self, nvml_processes: Iterable[Any]) -> tuple[GpuProcess, ...]:
        """Return each process once: it may be listed for compute and for graphics."""
        once = {process.pid: process.usedGpuMemory for process in nvml_processes}
        return tuple(self._identify_process(pid, used) for pid, used in sorted(once.items()))

    def _identify_process(self, pid: int, used_bytes: int | None) -> GpuProcess:
        held = None if used_bytes is None else to_gib(used_bytes)
        if not self._is_visible(pid):
            return GpuProcess(pid, held, name=OUTSIDE)
        return GpuProcess(pid, held, self._owner(pid), clean_text(read_name(pid, self._proc), _NAME))

    def _is_visible(self, pid: int) -> bool:
        """Return True if the pid is visible here: NVML reports host pids, which may be reused inside a container."""
        if self._nested and not any(file.startswith("/dev/nvidia") for file in list_open_files(pid, self._proc)):
            return False
        return (self._proc / str(pid)).exists()


def _is_in_pid_namespace(proc: Path) -> bool:
    try:
        return str((proc / "self" / "ns" / "pid").readlink()) != _FIRST_NAMESPACE
    except OSError:
        return True
