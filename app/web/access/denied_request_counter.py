"""Count refused requests per source, so that a flood writes one audit line a minute."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from app.events.kinds import PersonDid

WINDOW = 60.0
MOST = 20
"""Sources counted separately; all others share one count."""
MANY = "many addresses"


@dataclass
class _RefusalCount:
    since: float
    last: PersonDid
    more: int = 0


class DeniedRequestCounter:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[tuple[str, str], _RefusalCount] = {}

    def count_refusal(self, event: PersonDid) -> PersonDid | None:
        """Return the event to record at once, for the first refusal of a source; count the others and return None."""
        key = (event.who, event.source)
        if key not in self._counts and len(self._counts) >= MOST:
            event = replace(event, who="", right="", via="", source=MANY)
            key = (event.who, event.source)
        if count := self._counts.get(key):
            count.more, count.last = count.more + 1, event
            return None
        self._counts[key] = _RefusalCount(self._clock(), event)
        return event

    def collect_finished(self, *, all_of_them: bool = False) -> list[PersonDid]:
        """Return one summary event per source whose minute is over and that was refused again."""
        now, told = self._clock(), []
        for key, count in list(self._counts.items()):
            if now - count.since < WINDOW and not all_of_them:
                continue
            if count.more:
                told.append(replace(count.last, times=count.more))
                self._counts[key] = _RefusalCount(now, count.last)
            else:
                del self._counts[key]
        return told
