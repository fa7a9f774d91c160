"""Retry while the disk is full."""

import errno
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from app.errors import ActionFailed, EnvironmentUnusable

SECONDS, PAUSE = 30.0, 0.25
_PASSING = (errno.ENOSPC, errno.EDQUOT)

T = TypeVar("T")


def is_full_disk_or_quota_error(exc: BaseException | None) -> bool:
    """Return True if the error is a full disk or quota, which passes when space is freed."""
    return isinstance(exc, OSError) and exc.errno in _PASSING


def retry_host_preparation(prepare: Callable[[], T], host: str) -> T:
    """Run `prepare`, which prepares a host for a run; raise EnvironmentUnusable if the disk stays full."""
    try:
        return retry_while_disk_full(prepare)
    except OSError as exc:
        why = f"{host} cannot be made ready for a run: {exc.strerror}"
        raise EnvironmentUnusable(f"{why}. Nothing was changed on it.") from exc


def retry_while_disk_full(work: Callable[[], T]) -> T:
    """Run `work`, and again while the disk is full, for up to 30 s. `work` must be repeatable."""
    until = time.monotonic() + SECONDS
    while True:
        try:
            return work()
        except (OSError, ActionFailed) as exc:
            if (
                not (is_full_disk_or_quota_error(exc) or is_full_disk_or_quota_error(exc.__cause__))
                or time.monotonic() > until
            ):
                raise
        threading.Event().wait(PAUSE)
