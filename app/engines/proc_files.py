"""Read /proc: tables, processes and sockets. What has ended or belongs to another account reads as empty."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

PROC = Path("/proc")
_LISTENS = "0A"
_KIB_PER_GIB = 1024**2


class ListeningSocket(NamedTuple):
    """A listening TCP socket. `address` is hexadecimal, as a little-endian kernel writes it."""

    address: str
    port: int
    link: str
    """Target of the file descriptors that hold it."""


def read_value_after_colon(path: Path, line_prefix: str) -> str:
    """Return what stands after the colon in the first line that starts with `line_prefix`."""
    try:
        lines = path.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition(":")[2].strip() for line in lines if line.startswith(line_prefix)), "")


def find_gib_in_table(table_path: Path, name_prefix: str) -> float | None:
    """Return an entry that is in kB as GiB, or None without it."""
    kib = read_value_after_colon(table_path, name_prefix).partition(" ")[0]
    return int(kib) / _KIB_PER_GIB if kib.isdecimal() else None


def read_stat_fields_after_name(pid: int, proc: Path = PROC) -> list[str]:
    """Return the fields after the name, which may contain any character: state, parent, group, session and so on."""
    try:
        return (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def read_name(pid: int, proc: Path = PROC) -> str:
    try:
        return (proc / str(pid) / "comm").read_text(errors="replace").strip()
    except OSError:
        return ""


def iterate_open_files(pid: int, proc: Path = PROC) -> Iterator[str]:
    """Yield the targets of a process's file descriptors."""
    try:
        files = list((proc / str(pid) / "fd").iterdir())
    except OSError:
        return
    for file in files:
        with suppress(OSError):
            yield str(file.readlink())


def iterate_listening_sockets_with_inodes(proc: Path = PROC) -> Iterator[ListeningSocket]:
    for table in ("tcp", "tcp6"):
        try:
            lines = (proc / "self" / "net" / table).read_text().splitlines()[1:]
        except OSError:
            continue
        for words in map(str.split, lines):
            if len(words) > 9 and words[3] == _LISTENS:
                address, _, port = words[1].partition(":")
                yield ListeningSocket(address, int(port, 16), f"socket:[{words[9]}]")
