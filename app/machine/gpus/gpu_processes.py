"""The processes that hold a GPU's memory, and their engines, identified through this machine's /proc."""

import ipaddress
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from app.engines.fit.fit_verdict import ProgramsOnGpu
from app.engines.proc_files import (
    PROC,
    iterate_listening_sockets_with_inodes,
    iterate_open_files,
    read_name,
    read_stat_fields_after_name,
)
from app.events.event_field_types import GpuProcess
from app.lineups.model import Lineup
from app.machine.gpus.gpu_reading import GpuReading, to_gib
from app.text.clean import clean_text

OUTSIDE = "outside this container"
_FIRST_NAMESPACE = "pid:[4026531836]"
"""Inode of the initial PID namespace, a constant in the kernel."""
_NAME = 40
_DEEP = 8
"""Generations from a GPU worker up to its server: vLLM has three."""

Owner = Callable[[int], str]
"""Returns the engine of a process, or an empty string."""


def get_empty_owner(_: int) -> str:
    return ""


def list_foreign_programs_on_idle_gpus(
    lineup: Lineup, readings: Iterable[GpuReading], running_engines: Collection[str]
) -> dict[int, ProgramsOnGpu]:
    """Return what holds memory of the line-up's GPUs here, beside its engines, by their index in the line-up.

    `running_engines`: those that are up. Their GPUs are left out, since their processes cannot always be told apart
    from others. Only GPUs of engines that Temper starts are known to be in this machine.
    """
    launched = {gpu for engine in lineup.engines.values() if engine.launch for gpu in engine.gpus}
    wanted = launched - {gpu for name in running_engines for gpu in lineup.engines[name].gpus}
    by_key = {(reading.host, reading.gpu): reading for reading in readings}
    found = {}
    for gpu in lineup.gpus:
        reading = by_key.get(gpu.key)
        if gpu.index in wanted and not gpu.host and reading and not reading.unified:
            held = {_name_program(one): one.used_gib for one in reading.processes if one.used_gib and not one.engine}
            if held:
                found[gpu.index] = ProgramsOnGpu(tuple(held), sum(held.values()))
    return found


def _name_program(process: GpuProcess) -> str:
    return f"{process.name or 'a program'} (process {process.pid})"


class GpuProcesses:
    def __init__(self, owner: Owner = get_empty_owner, proc: Path = PROC) -> None:
        self._owner, self._proc = owner, proc
        self._nested = _is_own_process_in_nested_pid_namespace(proc)

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
        if self._nested and not any(file.startswith("/dev/nvidia") for file in iterate_open_files(pid, self._proc)):
            return False
        return (self._proc / str(pid)).exists()


def _is_own_process_in_nested_pid_namespace(proc_folder: Path) -> bool:
    try:
        return str((proc_folder / "self" / "ns" / "pid").readlink()) != _FIRST_NAMESPACE
    except OSError:
        return True


class ProcessOwners:
    """Finds the engine of a process: the one on whose port it, or an ancestor, listens.

    Only for this machine: engines on loopback, or launched by Temper."""

    def __init__(
        self, bases: Mapping[str, tuple[str, ...]], launched: Owner = get_empty_owner, proc: Path = PROC
    ) -> None:
        self._engines = {port: name for name, urls in bases.items() for port in map(_parse_loopback_port, urls) if port}
        self._launched, self._proc = launched, proc

    def __call__(self, pid: int) -> str:
        if engine := self._launched(pid):
            return engine
        sockets = {
            one.link: self._engines[one.port]
            for one in iterate_listening_sockets_with_inodes(self._proc)
            if one.port in self._engines
        }
        if not sockets:
            return ""
        held = (
            link for one in self._iterate_process_and_ancestors(pid) for link in iterate_open_files(one, self._proc)
        )
        return next((sockets[link] for link in held if link in sockets), "")

    def _iterate_process_and_ancestors(self, pid: int) -> Iterator[int]:
        for _ in range(_DEEP):
            if pid <= 1:
                return
            yield pid
            stat = read_stat_fields_after_name(pid, self._proc)
            pid = int(stat[1]) if stat else 0


def _parse_loopback_port(url: str) -> int | None:
    address = httpx.URL(url)
    try:
        near = address.host == "localhost" or ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return None
    return address.port if near else None
