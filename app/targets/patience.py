"""A disk that is full for a while is no reason to leave a host half done."""

import errno
import threading
import time
from collections.abc import Callable
from typing import TypeVar

SECONDS, PAUSE = 30.0, 0.25
_PASSING = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


def sit_out(work: Callable[[], T]) -> T:
    """`work` may be done again from its beginning."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return work()
        except OSError as exc:
            if exc.errno not in _PASSING or time.monotonic() > until:
                raise
        threading.Event().wait(PAUSE)
