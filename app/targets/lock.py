"""One at a time over threads and processes, and again by the one that already holds it."""

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path

Fence = Callable[[], None]
"""Raises where the host is no more for this process to change."""


def no_fence() -> None:
    """Nobody else could be at work."""


class HostLock:
    def __init__(self, path: Path, fence: Fence = no_fence) -> None:
        self._path = path
        self._fence = fence
        self._thread = threading.RLock()
        self._depth = 0
        self._descriptor = -1

    def __enter__(self) -> None:
        self._thread.acquire()
        try:
            if self._depth == 0:
                self._descriptor = self._locked()
            self._depth += 1
        except BaseException:
            self._thread.release()
            raise

    def __exit__(self, *_exc: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            os.close(self._descriptor)  # closing unlocks, as the end of the process would
        self._thread.release()

    def _locked(self) -> int:
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            self._fence()  # under the lock: whoever takes the host over waits here until this change is through
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor
