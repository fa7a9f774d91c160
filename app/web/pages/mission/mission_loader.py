"""Loads a run's mission at any seq: cached counts for finished items, and full detail for the items in view."""

import threading
from collections import deque
from typing import Annotated

from fastapi import Depends

from app.events.kinds import KINDS, RUN_KINDS
from app.loop.state import RunState, fold_events
from app.machine.sampling.engine_outages import RecentOutages
from app.store.events import EventStore
from app.web.deps import create_state_dependency
from app.web.pages.mission.engine_use_times import HOLD_SECONDS
from app.web.pages.mission.feed import FEED_KINDS, FeedLine, to_feed_line
from app.web.pages.mission.mission import FEED_LINES, Mission
from app.web.pages.mission.timeline import TimelineReader
from app.web.stream.recently_used import RecentlyUsed

FRAME_KINDS = (
    *(kind for kind in RUN_KINDS if kind.startswith(("run.", "scan.", "item."))),
    "attempt.started",
    "attempt.failed",
)
"""Event kinds that the ribbon and the counts need for finished items."""
KEPT = 64
TURNS_BACK = 400
"""More turns than fit in two minutes at any pace that a person would watch."""


class FrameCache:
    """Folded states by run and seq. Logs are append-only, so entries never expire. Thread-safe.

    Separate from Folds, which hold the newest state over all steady events; neither can be derived from the other.
    """

    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._known = RecentlyUsed[tuple[str, int], RunState](KEPT)
        """State by run and seq."""

    def fold_frame_state_upto(self, run: str, seq: int) -> RunState:
        before, state = self._find_nearest_seq_and_state(run, seq)
        if before < seq:
            state = fold_events(self._store.read_events(run, after=before, upto=seq, kinds=FRAME_KINDS), state)
        with self._lock:
            return self._known.keep((run, seq), state)

    def _find_nearest_seq_and_state(self, run: str, seq: int) -> tuple[int, RunState]:
        with self._lock:
            places = [place for of, place in self._known if of == run and place <= seq]
            return (nearest := max(places, default=0)), self._known.get((run, nearest)) or RunState()


class MissionLoader:
    """Loads missions; equal logs and seqs give equal missions. One instance per application."""

    def __init__(self, store: EventStore) -> None:
        self._store, self._frames = store, FrameCache(store)
        self.timelines, self.outages = TimelineReader(store), RecentOutages(store, HOLD_SECONDS)

    def load_mission(self, run: str, seq: int | None = None) -> Mission:
        mission = Mission()
        begin = self._find_first_seq(run, seq)
        mission.state = self._frames.fold_frame_state_upto(run, begin - 1)
        for recorded in self._store.read_events_without_deltas(run, seq, after=begin - 1):
            mission.apply_event(recorded)
        if mission.state.turn:
            for recorded in self._store.read_events(run, after=mission.turn_began, upto=seq, kinds=["turn.delta"]):
                mission.apply_event(recorded)  # the text so far of the turn in progress
        mission.feed = self._read_feed(run, seq)
        return mission

    def is_empty(self, run: str, after: int, upto: int) -> bool:
        """Return True if the log has no events in this range, as after a run was shrunk."""
        return not self._store.read_lines(run, after, upto, limit=1)

    def _find_first_seq(self, run: str, seq: int | None) -> int:
        """Return the first seq to fold in full: it covers the last two items and the engines' time axes."""
        item = self._store.read_events_newest_first(run, seq, ["item.started"], 2)
        turns = self._store.read_events_newest_first(run, seq, ["turn.started"], TURNS_BACK)
        last = self._store.read_events_newest_first(run, seq, KINDS, 1)
        held = [turn.seq for turn in turns if last[0].at - turn.at < 2 * HOLD_SECONDS]
        return min([one.seq for one in item] + held, default=1)

    def _read_feed(self, run: str, seq: int | None) -> deque[FeedLine]:
        told = self._store.read_events_newest_first(run, seq, FEED_KINDS, FEED_LINES * 8)
        lines = [line for line in map(to_feed_line, told) if line]
        return deque(lines[:FEED_LINES], maxlen=FEED_LINES)


TheMissions = Annotated[MissionLoader, Depends(create_state_dependency("missions"))]
