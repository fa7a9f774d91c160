"""Find the processes that listen on a local port, to tell our engine from another program that answers there."""

from collections.abc import Collection, Iterator
from contextlib import suppress

from app.engines.launch.processes import PROC, read_mark

_LISTENS = "0A"
_HERE = frozenset(
    {
        "0100007F",  # 127.0.0.1
        "00000000",  # every address
        "00000000000000000000000000000000",
        "0000000000000000FFFF00000100007F",  # 127.0.0.1, by IPv6
    }
)
"""Listening addresses that receive requests to 127.0.0.1, as a little-endian kernel writes them."""


def find_foreign_listener(port: int, ours: Collection[int]) -> str:
    """Describe another process that listens on the port; empty if only the processes `ours` do."""
    left = set(_iterate_listening_sockets(port)) - {socket for pid in ours for socket in _iterate_sockets(pid)}
    return _describe_holder(left) if left else ""


def _iterate_listening_sockets(port: int) -> Iterator[str]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (PROC / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, lines):
            address, _, number = words[1].partition(":")
            if words[3] == _LISTENS and int(number, 16) == port and address in _HERE:
                yield f"socket:[{words[9]}]"


def _iterate_sockets(pid: int) -> Iterator[str]:
    try:
        files = list((PROC / str(pid) / "fd").iterdir())
    except OSError:  # the process has ended, or belongs to another account
        return
    for file in files:
        with suppress(OSError):
            yield str(file.readlink())


def _describe_holder(held: set[str]) -> str:
    for folder in PROC.iterdir():
        if folder.name.isdecimal() and held.intersection(_iterate_sockets(int(folder.name))):
            pid = int(folder.name)
            engine = read_mark(pid).split("/")[1:2]
            what = f", engine {engine[0]} of another Temper" if engine else ""
            return f"process {pid} ({_read_program_name(pid)}{what})"
    return "a process of another account"


def _read_program_name(pid: int) -> str:
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return "gone meanwhile"
