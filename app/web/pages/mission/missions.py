"""A run's mission at any seq without folding a day of events: the frame of it all, the detail of what is in view."""

from collections import deque
from typing import Annotated

from fastapi import Depends, Request

from app.events.kinds import KINDS
from app.store.events import EventStore
from app.web.pages.mission.engine_holds import HOLD_SECONDS
from app.web.pages.mission.feed import FeedLine, feed_line
from app.web.pages.mission.frames import Frames
from app.web.pages.mission.mission import FEED_LINES, Mission

TOLD = tuple(kind for kind in KINDS if not kind.startswith(("turn.delta", "turn.started", "engine.", "gpu.")))
"""What the feed may be made of; a turn's end only where it came to nothing."""
TURNS_BACK = 400
"""More turns than two minutes hold, at any pace that a person watches."""


class Missions:
    """The same log and seq always give the same mission. One per application."""

    def __init__(self, store: EventStore) -> None:
        self._store, self._frames = store, Frames(store)

    def at(self, run: str, seq: int | None = None) -> Mission:
        mission = Mission()
        begin = self._in_view(run, seq)
        mission.state = self._frames.upto(run, begin - 1)
        for recorded in self._store.steady(run, seq, after=begin - 1):
            mission.take(recorded)
        if mission.state.turn:
            self._open_turn(run, mission, seq)
        mission.feed = self._feed(run, seq)
        return mission

    def empty(self, run: str, after: int, upto: int) -> bool:
        """Nothing is there: the pieces of a turn, in a run that was shrunk."""
        return not self._store.lines(run, after, upto, limit=1)

    def _in_view(self, run: str, seq: int | None) -> int:
        """The first seq whose details show: the items in focus and before it, and what the engines' axes still hold."""
        item = self._store.newest(run, seq, ["item.started"], 2)
        turns = self._store.newest(run, seq, ["turn.started"], TURNS_BACK)
        last = self._store.newest(run, seq, KINDS, 1)
        held = [turn.seq for turn in turns if last[0].at - turn.at < 2 * HOLD_SECONDS]
        return min([one.seq for one in item] + held, default=1)

    def _open_turn(self, run: str, mission: Mission, seq: int | None) -> None:
        """The text so far of the turn in progress."""
        for recorded in self._store.events(run, after=mission.turn_began, upto=seq, kinds=["turn.delta"]):
            mission.take(recorded)

    def _feed(self, run: str, seq: int | None) -> deque[FeedLine]:
        told = self._store.newest(run, seq, TOLD, FEED_LINES * 8)
        lines = [line for line in map(feed_line, told) if line]
        return deque(lines[:FEED_LINES], maxlen=FEED_LINES)


async def _missions(request: Request) -> Missions:
    missions: Missions = request.app.state.missions
    return missions


TheMissions = Annotated[Missions, Depends(_missions)]
