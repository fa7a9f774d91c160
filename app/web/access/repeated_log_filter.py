"""Limit repeated log messages of the HTTP server, which clients can provoke, to one a minute with a count."""

import logging
import time
from collections.abc import Callable

WITHIN = 60.0
MOST = 100


class RepeatedLogFilter(logging.Filter):
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._told: dict[str, tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Compare records by the first line of the message; later lines hold the socket and the address."""
        first = str(record.msg).partition("\n")[0]
        if first not in self._told and len(self._told) >= MOST:
            self._told.clear()
        at, kept_back = self._told.get(first, (float("-inf"), 0))
        now = self._clock()
        if now - at < WITHIN:
            self._told[first] = at, kept_back + 1
            return False
        self._told[first] = now, 0
        if kept_back:
            record.msg = f"{record.msg} (and {kept_back} more since it was last logged)"
        return True
