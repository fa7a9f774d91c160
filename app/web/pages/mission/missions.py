"""Loads a run's mission at any seq: cached counts for finished items, and full detail for the items in view."""

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
"""Event kinds that can make a feed line; a turn's end makes one only if the turn failed."""
TURNS_BACK = 400
"""More turns than fit in two minutes at any pace that a person would watch."""


class Missions:
    """Loads missions; equal logs and seqs give equal missions. One instance per application."""

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
        """Return True if the log has no events in this range, as after a run was shrunk."""
        return not self._store.lines(run, after, upto, limit=1)

    def _in_view(self, run: str, seq: int | None) -> int:
        """Return the first seq to fold in full: it covers the last two items and the engines' time axes."""
        item = self._store.newest(run, seq, ["item.started"], 2)
        turns = self._store.newest(run, seq, ["turn.started"], TURNS_BACK)
        last = self._store.newest(run, seq, KINDS, 1)
        held = [turn.seq for turn in turns if last[0].at - turn.at < 2 * HOLD_SECONDS]
        return min([one.seq for one in item] + held, default=1)

    def _open_turn(self, run: str, mission: Mission, seq: int | None) -> None:
        """Apply the text so far of the turn in progress."""
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
