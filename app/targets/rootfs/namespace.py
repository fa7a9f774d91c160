"""Runs a command as root of a user namespace: python namespace.py FOLDER COMMAND...

The namespace has its own users, mounts and processes, and FOLDER is all that it sees of this machine. Its users map to
unused ids, so root inside has no rights outside. It ends with the process that started it.
"""

import ctypes
import os
import pwd
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

FIRST, COUNT = 1_000_000_000, 65_536
"""The id range for the namespace: above all accounts and the ranges in /etc/subuid."""
_NEW_USERS, _NEW_MOUNTS, _NEW_PROCESSES, _NEW_NAMES, _NEW_IPC = 0x10000000, 0x20000, 0x20000000, 0x4000000, 0x8000000
_DIE_WITH_PARENT, _MAY_BE_MAPPED = 1, 4

_libc = ctypes.CDLL(None, use_errno=True)


def find_subordinate_ids(file: str) -> tuple[int, int] | None:
    me = pwd.getpwuid(os.geteuid()).pw_name
    with suppress(OSError):
        for line in Path(file).read_text().splitlines():
            with suppress(ValueError):  # a blank line, or one that lends nothing
                name, first, count = line.split(":")
                if name in (me, str(os.geteuid())) and int(count) >= COUNT - 1:
                    return int(first), int(count)
    return None


def main(folder: str, *command: str) -> int:
    """Fork a child into the namespace and return its exit code; it waits while its parent writes the id maps."""
    os.umask(0o022)  # the caller's umask is private; a machine needs the usual one
    born, told = os.pipe(), os.pipe()
    os.chdir(folder)
    child = os.fork()
    if child == 0:
        os.close(told[1])
        _drop_ids_and_tie_to_parent()
        _unshare_namespaces_or_exit(_NEW_USERS)
        os.write(born[1], b"1")
        if not os.read(told[0], 1):
            os._exit(1)
        os._exit(_run_as_namespace_root(command))
    os.close(told[0])
    os.close(born[1])
    if os.read(born[0], 1):  # nothing: the kernel refused, and the child said so
        _write_id_maps(child)
        os.write(told[1], b"1")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _drop_ids_and_tie_to_parent() -> None:
    if os.geteuid() == 0:
        os.setgroups([])
        os.setresgid(FIRST, FIRST, FIRST)
        os.setresuid(FIRST, FIRST, FIRST)
    _libc.prctl(_MAY_BE_MAPPED, 1)
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)


def _run_as_namespace_root(command: tuple[str, ...]) -> int:
    os.setresgid(0, 0, 0)
    os.setresuid(0, 0, 0)
    os.setgroups([])
    _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    _unshare_namespaces_or_exit(_NEW_MOUNTS | _NEW_PROCESSES | _NEW_NAMES | _NEW_IPC)
    first = os.fork()
    if first == 0:
        _libc.prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        os.execvp(command[0], command)  # noqa: S606  (a list, never a shell's line)
    return os.waitstatus_to_exitcode(os.waitpid(first, 0)[1])


def _write_id_maps(child: int) -> None:
    for kind, file, tool, me in (
        ("uid_map", "/etc/subuid", "newuidmap", os.geteuid()),
        ("gid_map", "/etc/subgid", "newgidmap", os.getegid()),
    ):
        if os.geteuid() == 0:
            Path(f"/proc/{child}/{kind}").write_text(f"0 {FIRST} {COUNT}\n")
            continue
        lent = find_subordinate_ids(file)
        if lent is None:
            sys.exit(f"{file} lends no ids to this account: usermod --add-subuids 100000-165535 it, subgids likewise")
        subprocess.run([tool, str(child), "0", str(me), "1", "1", str(lent[0]), str(COUNT - 1)], check=True)


def _unshare_namespaces_or_exit(namespace_flags: int) -> None:
    if _libc.unshare(namespace_flags) != 0:
        sys.exit(f"this kernel refuses user namespaces here ({os.strerror(ctypes.get_errno())})")


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
