"""Loads a run's mission at any seq: cached counts for finished items, and full detail for the items in view."""

import threading
from collections import deque
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query

from app.events.kinds import KINDS, RUN_KINDS
from app.loop.state import RunState, fold_events
from app.machine.sampling.engine_outages_from_log import RecentOutages
from app.store.events import EventStore
from app.store.models import RunRow
from app.web.deps import create_state_dependency
from app.web.pages.mission.engine_use_times import HOLD_SECONDS
from app.web.pages.mission.feed import FEED_KINDS, FeedLine, to_feed_line
from app.web.pages.mission.mission import FEED_LINES, Mission
from app.web.pages.mission.timeline import TimelineReader
from app.web.stream.recently_used import RecentlyUsed
from app.web.stream.resume_position import MOST_SEQ

FRAME_KINDS = (
    *(kind for kind in RUN_KINDS if kind.startswith(("run.", "scan.", "item."))),
    "attempt.started",
    "attempt.failed",
)
"""Event kinds that the ribbon and the counts need for finished items."""
KEPT = 64
TURNS_BACK = 400
"""More turns than fit in two minutes at any pace that a person would watch."""
READ_UP = 0.05
"""The timeline has a resolution of 0.1 s; half a step is added so that its events are included."""
Seconds = Annotated[float | None, Query(ge=0, le=1e9, allow_inf_nan=False)]


@dataclass(frozen=True)
class AskedMoment:
    """The moment of a run that a query string names by `at`, else by `w`, else by `t`; all are None for the present."""

    at: int | None = None
    """The seq of an event."""
    t: float | None = None
    """Seconds since the run was queued."""
    w: float | None = None
    """Seconds on the timeline."""


async def _read_asked_moment(
    at: Annotated[int | None, Query(ge=0, le=MOST_SEQ)] = None, t: Seconds = None, w: Seconds = None
) -> AskedMoment:
    return AskedMoment(at, t, w)


TheMoment = Annotated[AskedMoment, Depends(_read_asked_moment)]


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
        before, state = self._get_nearest_seq_and_state_until(run, seq)
        if before < seq:
            state = fold_events(self._store.read_events(run, after=before, upto=seq, kinds=FRAME_KINDS), state)
        with self._lock:
            return self._known.keep((run, seq), state)

    def _get_nearest_seq_and_state_until(self, run: str, seq: int) -> tuple[int, RunState]:
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

    def find_seq(self, row: RunRow, moment: AskedMoment) -> int:
        """Return the seq of the moment's newest event; the first seq of the run for the present."""
        if moment.at is not None:
            return moment.at
        if moment.w is not None:
            time = self.timelines.read_timeline(row.id).to_time(moment.w + READ_UP)
        else:
            time = (
                (self._store.find_time_of_newest_event_up_to_seq(row.id, 1) or row.queued_at)
                + (moment.t or 0.0)
                + READ_UP
            )
        return self._store.get_seq_at(row.id, time)

    def find_time_of_moment_or_newest_event(self, run: str, moment: AskedMoment) -> float | None:
        """Return the time of the moment, which for the present is that of the newest event. None without events."""
        if moment.at is None and moment.w is not None:
            line = self.timelines.read_timeline(run)
            return line.to_time(moment.w) if line.seq else None
        seconds = moment.t if moment.at is None else None
        told = self._store.read_events_of_kinds_newest_first(run, moment.at if seconds is None else 1, KINDS, 1)
        return told[0].at + (seconds or 0.0) if told else None

    def is_empty(self, run: str, after: int, upto: int) -> bool:
        """Return True if the log has no events in this range, as after a run was shrunk."""
        return not self._store.read_lines(run, after, upto, limit=1)

    def _find_first_seq(self, run: str, seq: int | None) -> int:
        """Return the first seq to fold in full: it covers the last two items and the engines' time axes."""
        item = self._store.read_events_of_kinds_newest_first(run, seq, ["item.started"], 2)
        turns = self._store.read_events_of_kinds_newest_first(run, seq, ["turn.started"], TURNS_BACK)
        last = self._store.read_events_of_kinds_newest_first(run, seq, KINDS, 1)
        held = [turn.seq for turn in turns if last[0].at - turn.at < 2 * HOLD_SECONDS]
        return min([one.seq for one in item] + held, default=1)

    def _read_feed(self, run: str, seq: int | None) -> deque[FeedLine]:
        told = self._store.read_events_of_kinds_newest_first(run, seq, FEED_KINDS, FEED_LINES * 8)
        lines = [line for line in map(to_feed_line, told) if line]
        return deque(lines[:FEED_LINES], maxlen=FEED_LINES)


TheMissions = Annotated[MissionLoader, Depends(create_state_dependency("missions"))]
