"""Map a process to its engine: the one on whose port it, or an ancestor, listens."""

import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

from app.engines.proc_files import PROC, list_listeners, list_open_files, read_stat_fields_after_name
from app.machine.gpus.gpu_processes import Owner, find_no_owner

_DEEP = 8
"""Generations from a GPU worker up to its server: vLLM has three."""


class ProcessOwners:
    """Only for this machine: engines on loopback, or launched by Temper."""

    def __init__(
        self, bases: Mapping[str, tuple[str, ...]], launched: Owner = find_no_owner, proc: Path = PROC
    ) -> None:
        self._engines = {port: name for name, urls in bases.items() for port in map(_parse_loopback_port, urls) if port}
        self._launched, self._proc = launched, proc

    def __call__(self, pid: int) -> str:
        if engine := self._launched(pid):
            return engine
        sockets = {one.link: self._engines[one.port] for one in list_listeners(self._proc) if one.port in self._engines}
        if not sockets:
            return ""
        held = (link for one in self._iterate_process_and_ancestors(pid) for link in list_open_files(one, self._proc))
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
