"""A process that outlives its starter, found again by a pid file and ended with all descendants."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from app.errors import EnvironmentUnusable

_SECONDS = 10.0


class DetachedProcess:
    def __init__(self, file: Path) -> None:
        self._file = file

    @property
    def is_alive(self) -> bool:
        return self._find_live_pid() is not None

    def start(self, command: list[str], stdin: Path, output: Path) -> None:
        with stdin.open("rb") as script, output.open("wb") as said:
            files = [
                (os.POSIX_SPAWN_DUP2, script.fileno(), 0),
                *((os.POSIX_SPAWN_DUP2, said.fileno(), to) for to in (1, 2)),
                *((os.POSIX_SPAWN_CLOSE, file) for file in _iter_inheritable_fds()),
            ]
            pid = os.posix_spawnp(command[0], command, os.environ, file_actions=files, setsid=True)
        self._file.write_text(f"{pid} {_read_start_time(pid)}")

    def kill_tree(self) -> None:
        """Kill the process and its descendants; list them first, because orphans cannot be found afterwards."""
        pid = self._find_live_pid()
        if pid is not None:
            family = {one: _read_start_time(one) for one in _list_process_tree(pid)}
            for one in family:
                with suppress(ProcessLookupError, PermissionError):
                    os.kill(one, signal.SIGKILL)
            _wait_until_ended(pid, family)
        self._file.unlink(missing_ok=True)

    def _find_live_pid(self) -> int | None:
        try:
            word, born = self._file.read_text().split()
            pid = int(word)
        except (OSError, ValueError):
            return None
        return pid if _read_start_time(pid) == born else None


def _iter_inheritable_fds() -> Iterator[int]:
    """Yield inherited file descriptors, so that the detached process keeps no lock of a caller."""
    for file in [int(one.name) for one in Path("/proc/self/fd").iterdir()]:
        with suppress(OSError):
            if file > 2 and os.get_inheritable(file):
                yield file


def _read_start_time(pid: int) -> str:
    """Return the start time in kernel ticks; "" if it is gone or a zombie."""
    try:
        state, *rest = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if state == "Z" else rest[18]


def _list_process_tree(pid: int) -> list[int]:
    found = [pid]
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += _list_process_tree(int(child))
    return found


def _wait_until_ended(pid: int, start_times_by_pid: dict[int, str]) -> None:
    deadline = time.monotonic() + _SECONDS
    while any(born and _read_start_time(one) == born for one, born in start_times_by_pid.items()):
        if time.monotonic() > deadline:
            left = ", ".join(map(str, start_times_by_pid))
            raise EnvironmentUnusable(f"Some processes of the machine are still running: {left}. End them by hand.")
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
        time.sleep(0.005)
