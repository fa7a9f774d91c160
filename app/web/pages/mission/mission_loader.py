"""Loads a run's mission at any seq: cached counts for finished items, and full detail for the items in view."""

from collections import deque
from typing import Annotated

from fastapi import Depends, Request

from app.events.kinds import KINDS, TOLD_KINDS
from app.store.events import EventStore
from app.web.pages.mission.engine_holds import HOLD_SECONDS
from app.web.pages.mission.feed import FeedLine, to_feed_line
from app.web.pages.mission.frame_cache import FrameCache
from app.web.pages.mission.mission import FEED_LINES, Mission

TURNS_BACK = 400
"""More turns than fit in two minutes at any pace that a person would watch."""


class MissionLoader:
    """Loads missions; equal logs and seqs give equal missions. One instance per application."""

    def __init__(self, store: EventStore) -> None:
        self._store, self._frames = store, FrameCache(store)

    def load_mission(self, run: str, seq: int | None = None) -> Mission:
        mission = Mission()
        begin = self._find_first_seq(run, seq)
        mission.state = self._frames.fold_upto(run, begin - 1)
        for recorded in self._store.read_without_deltas(run, seq, after=begin - 1):
            mission.apply_event(recorded)
        if mission.state.turn:
            self._apply_open_turn(run, mission, seq)
        mission.feed = self._read_feed(run, seq)
        return mission

    def is_empty(self, run: str, after: int, upto: int) -> bool:
        """Return True if the log has no events in this range, as after a run was shrunk."""
        return not self._store.read_lines(run, after, upto, limit=1)

    def _find_first_seq(self, run: str, seq: int | None) -> int:
        """Return the first seq to fold in full: it covers the last two items and the engines' time axes."""
        item = self._store.read_newest(run, seq, ["item.started"], 2)
        turns = self._store.read_newest(run, seq, ["turn.started"], TURNS_BACK)
        last = self._store.read_newest(run, seq, KINDS, 1)
        held = [turn.seq for turn in turns if last[0].at - turn.at < 2 * HOLD_SECONDS]
        return min([one.seq for one in item] + held, default=1)

    def _apply_open_turn(self, run: str, mission: Mission, seq: int | None) -> None:
        """Apply the text so far of the turn in progress."""
        for recorded in self._store.read_events(run, after=mission.turn_began, upto=seq, kinds=["turn.delta"]):
            mission.apply_event(recorded)

    def _read_feed(self, run: str, seq: int | None) -> deque[FeedLine]:
        told = self._store.read_newest(run, seq, TOLD_KINDS, FEED_LINES * 8)
        lines = [line for line in map(to_feed_line, told) if line]
        return deque(lines[:FEED_LINES], maxlen=FEED_LINES)


async def _get_mission_loader(request: Request) -> MissionLoader:
    missions: MissionLoader = request.app.state.missions
    return missions


TheMissions = Annotated[MissionLoader, Depends(_get_mission_loader)]
