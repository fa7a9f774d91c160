"""Limit repeated log messages of the HTTP server, which clients can provoke, to one a minute with a count."""

import logging
import time
from collections.abc import Callable

WITHIN = 60.0
MOST = 100


class Seldom:
    """Says of each thing once a minute how often it came."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._told: dict[str, tuple[float, int]] = {}

    def count(self, key: str) -> int:
        """Return how often the record came since it was last logged, or 0 if it is not to be logged now."""
        if key not in self._told and len(self._told) >= MOST:
            self._told.clear()
        at, kept_back = self._told.get(key, (float("-inf"), 0))
        now = self._clock()
        if now - at < WITHIN:
            self._told[key] = at, kept_back + 1
            return 0
        self._told[key] = now, 0
        return kept_back + 1


class RepeatedLogFilter(logging.Filter):
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._seldom = Seldom(clock)

    def filter(self, record: logging.LogRecord) -> bool:
        """Compare records by the first line of the message; later lines hold the socket and the address."""
        many = self._seldom.count(str(record.msg).partition("\n")[0])
        if many > 1:
            record.msg = f"{record.msg} (and {many - 1} more since it was last logged)"
        return many > 0
