"""Map a process to its engine: the one on whose port it, or an ancestor, listens."""

import ipaddress
from collections.abc import Iterator, Mapping
from pathlib import Path

import httpx

from app.machine.gpus.gpu_processes import Owner, find_no_owner

_LISTENS = "0A"
_DEEP = 8
"""Generations from a GPU worker up to its server: vLLM has three."""


class ProcessOwners:
    """Only for this machine: engines on loopback, or launched by Temper."""

    def __init__(
        self, bases: Mapping[str, tuple[str, ...]], launched: Owner = find_no_owner, proc: Path = Path("/proc")
    ) -> None:
        self._engines = {port: name for name, urls in bases.items() for port in map(_parse_loopback_port, urls) if port}
        self._launched, self._proc = launched, proc

    def __call__(self, pid: int) -> str:
        if engine := self._launched(pid):
            return engine
        sockets = {f"socket:[{inode}]": self._engines[port] for port, inode in self._list_listening()}
        if not sockets:
            return ""
        held = (link for one in self._list_ancestors(pid) for link in _list_links(self._proc / str(one) / "fd"))
        return next((sockets[link] for link in held if link in sockets), "")

    def _list_listening(self) -> Iterator[tuple[int, str]]:
        for table in ("tcp", "tcp6"):
            for row in _read_socket_rows(self._proc / "self" / "net" / table):
                port = int(row[1].rpartition(":")[2], 16)
                if row[3] == _LISTENS and port in self._engines:
                    yield port, row[9]

    def _list_ancestors(self, pid: int) -> Iterator[int]:
        """Yield the process and its ancestors."""
        for _ in range(_DEEP):
            if pid <= 1:
                return
            yield pid
            pid = _read_parent_pid(self._proc / str(pid) / "stat")


def _parse_loopback_port(url: str) -> int | None:
    address = httpx.URL(url)
    try:
        near = address.host == "localhost" or ipaddress.ip_address(address.host).is_loopback
    except ValueError:
        return None
    return address.port if near else None


def _read_socket_rows(table: Path) -> list[list[str]]:
    try:
        return [words for line in table.read_text().splitlines()[1:] if len(words := line.split()) > 9]
    except OSError:
        return []


def _read_parent_pid(stat: Path) -> int:
    """Return the parent pid. The process name before it is in parentheses and may contain anything."""
    try:
        return int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _list_links(folder: Path) -> Iterator[str]:
    try:
        files = list(folder.iterdir())
    except OSError:
        return
    for file in files:
        try:
            yield str(file.readlink())
        except OSError:
            continue
