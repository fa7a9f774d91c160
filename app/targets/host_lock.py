"""A reentrant lock over threads and processes."""

import fcntl
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHANGE_LOCK = "change.lock"
"""File in a host's folder that the process which changes the host locks. Its modification time says since when."""
Fence = Callable[[], None]
"""Raises if this process no longer owns the host."""


def do_nothing() -> None:
    """Accept every change and keep the host's folder to this machine: there is no other node."""


class HostLock:
    def __init__(self, path: Path, fence: Fence = do_nothing) -> None:
        self._path = path
        self._fence = fence
        self._thread = threading.RLock()
        self._depth = 0
        self._descriptor = -1

    def __enter__(self) -> None:
        self._thread.acquire()
        try:
            if self._depth == 0:
                self._descriptor = self._wait_for_file_lock_and_check_fence()
            self._depth += 1
        except BaseException:
            self._thread.release()
            raise

    def __exit__(self, *_exc: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._descriptor)  # closing unlocks, as the end of the process does
        self._thread.release()

    def _wait_for_file_lock_and_check_fence(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.utime(descriptor)
            self._fence()  # under the lock: whoever takes the host over waits here until this change is through
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor


@dataclass(frozen=True)
class Ownership:
    fence: Fence = do_nothing
    fencing_token: int = 0
    """The fencing token: the host refuses commands with a lower one. 0 disables fencing."""
    load_folder: Callable[[], None] = do_nothing
    """Load the host's folder as the last owner left it."""
    save_folder: Callable[[], None] = do_nothing
    """Save the changes of the host's folder for the next owner. Returns when they are durable."""
    hand_over: Callable[[], bool] = bool
    """Called if the host is unreachable: True if the host was handed to another node."""
    has_other_nodes: Callable[[], bool] = bool
    """True if other nodes exist: a silent connection is then closed within seconds, so that they can take over."""


ALONE = Ownership()
