"""Refusals, counted: whoever knocks all night fills a line a minute, and not the disk."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from msgspec.structs import replace

from app.events.kinds import PersonDid

WINDOW = 60.0
MOST = 20
"""Sources that are told apart at a time; the rest are one."""
MANY = "many addresses"


@dataclass
class _Count:
    since: float
    last: PersonDid
    more: int = 0


class Tally:
    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._counts: dict[tuple[str, str], _Count] = {}

    def refused(self, event: PersonDid) -> PersonDid | None:
        """What goes on record at once: the first from its source. Others are counted until the minute is over."""
        key = (event.who, event.source)
        if key not in self._counts and len(self._counts) >= MOST:
            event = replace(event, who="", right="", via="", source=MANY)
            key = (event.who, event.source)
        if count := self._counts.get(key):
            count.more, count.last = count.more + 1, event
            return None
        self._counts[key] = _Count(self._clock(), event)
        return event

    def over(self, *, all_of_them: bool = False) -> list[PersonDid]:
        """One line for each source whose minute is over and that came again."""
        now, told = self._clock(), []
        for key, count in list(self._counts.items()):
            if now - count.since < WINDOW and not all_of_them:
                continue
            if count.more:
                told.append(replace(count.last, times=count.more))
                self._counts[key] = _Count(now, count.last)
            else:
                del self._counts[key]
        return told
