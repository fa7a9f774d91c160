"""Guessing passwords is slow: a few wrong ones for a name, or from an address, and both wait."""

import time
from collections import defaultdict, deque
from collections.abc import Callable

TRIES = 5
WITHIN = 300.0


class Throttle:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=TRIES))

    def wait(self, name: str, source: str) -> float:
        """Seconds until another try counts; 0 when it does now."""
        return max(self._left(f"name {name}"), self._left(f"from {source}"))

    def failed(self, name: str, source: str) -> None:
        now = self._clock()
        for key in [key for key, times in self._failures.items() if now - times[-1] > WITHIN]:
            del self._failures[key]
        self._failures[f"name {name}"].append(now)
        self._failures[f"from {source}"].append(now)

    def _left(self, key: str) -> float:
        times = self._failures.get(key)
        if times is None or len(times) < TRIES:
            return 0.0
        return max(0.0, times[0] + WITHIN - self._clock())
