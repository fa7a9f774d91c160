"""Find the processes that listen on a local port, to tell our engine from another program that answers there."""

from collections.abc import Collection

from app.engines.launch.processes import read_mark
from app.engines.proc_files import PROC, list_listeners, list_open_files, read_name

_HERE = frozenset(
    {
        "0100007F",  # 127.0.0.1
        "00000000",  # every address
        "00000000000000000000000000000000",
        "0000000000000000FFFF00000100007F",  # 127.0.0.1, by IPv6
    }
)
"""Listening addresses that receive requests to 127.0.0.1."""


def find_foreign_listener(port: int, ours: Collection[int]) -> str:
    """Describe another process that listens on the port; empty if only the processes `ours` do."""
    left = {one.link for one in list_listeners() if one.port == port and one.address in _HERE}
    left -= {link for pid in ours for link in list_open_files(pid)}
    return _describe_holder(left) if left else ""


def _describe_holder(held: set[str]) -> str:
    for pid in (int(folder.name) for folder in PROC.iterdir() if folder.name.isdecimal()):
        if held.intersection(list_open_files(pid)):
            engine = read_mark(pid).split("/")[1:2]
            what = f", engine {engine[0]} of another Temper" if engine else ""
            return f"process {pid} ({read_name(pid) or 'gone meanwhile'}{what})"
    return "a process of another account"
