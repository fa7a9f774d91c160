"""A disk that is full for a while is no reason to leave a host half done."""

import errno
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.errors import ActionFailed, Unusable

SECONDS, PAUSE = 30.0, 0.25
_PASSING = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


def passes(exc: BaseException | None) -> bool:
    """By itself, once somebody has made room."""
    return isinstance(exc, OSError) and exc.errno in _PASSING


def prepared(work: Callable[[], T], host: str) -> T:
    """`work` brings a host to where a run starts."""
    try:
        return sit_out(work)
    except OSError as exc:
        raise Unusable(f"{host} cannot be made ready for a run: {exc.strerror}. Nothing was changed on it.") from exc


def sit_out(work: Callable[[], T]) -> T:
    """`work` may be done again from its beginning."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return work()
        except (OSError, ActionFailed) as exc:
            if not (passes(exc) or passes(exc.__cause__)) or time.monotonic() > until:
                raise
        threading.Event().wait(PAUSE)
