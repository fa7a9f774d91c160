"""The state of the mission page: a fold of the run's events with details for display."""

from collections import deque
from dataclasses import dataclass, field

from app.events import kinds
from app.events.record import Recorded
from app.loop.state import RunState, apply_event
from app.web.pages.mission.attempts import AttemptView, advance_attempt_view
from app.web.pages.mission.engine_use_times import EngineHolds
from app.web.pages.mission.feed import FeedLine, to_feed_line
from app.web.pages.mission.turn_lane import PLACES, Lane, Place, advance_lane, get_lane_name

FEED_LINES = 60


@dataclass
class Mission:
    state: RunState = field(default_factory=RunState)
    lanes: dict[Place, Lane] = field(default_factory=lambda: {place: Lane(place) for place in PLACES})
    stage: Place = "architect"
    """The turn that is shown large: the one in progress, or the last one."""
    holds: EngineHolds = field(default_factory=EngineHolds)
    focus: str | None = None
    """The rule of the current item, or of the last one."""
    tries: list[AttemptView] = field(default_factory=list)
    feed: deque[FeedLine] = field(default_factory=lambda: deque(maxlen=FEED_LINES))
    newest: dict[str, kinds.TurnFinished] = field(default_factory=dict)
    """Each engine's newest finished turn, for its figures."""
    turn_began: int = 0
    """The seq at which the newest turn started."""

    def apply_event(self, recorded: Recorded) -> None:
        self.state = apply_event(self.state, recorded)
        event = recorded.event
        self._update_item_and_attempts(event)
        self._advance_lanes(event)
        self.holds.apply_event(event, recorded.at)
        self._switch_lane_shown_large(event)
        if isinstance(event, kinds.TurnStarted):
            self.turn_began = recorded.seq
        if isinstance(event, kinds.TurnFinished) and (engine := self.holds.find_engine(event.turn)):
            self.newest[engine] = event
        if line := to_feed_line(recorded):
            self.feed.appendleft(line)

    def _advance_lanes(self, event: kinds.Event) -> None:
        match event:
            case kinds.TurnDelta():  # by far the most frequent one: only the lane of its turn is looked at
                for place, lane in self.lanes.items():
                    if lane.turn == event.turn:
                        self.lanes[place] = advance_lane(lane, event)
            case _:
                self.lanes = {place: advance_lane(lane, event) for place, lane in self.lanes.items()}

    def _switch_lane_shown_large(self, event: kinds.Event) -> None:
        match event:
            case kinds.TurnStarted():
                self.stage = get_lane_name(event)
            case kinds.ItemStarted() | kinds.AttemptStarted():
                self.stage = "architect"
            case kinds.ActionProposed():
                self.stage = "worker"
            case kinds.VerdictGiven(phase="attempt"):
                self.stage = "auditor"
            case kinds.SentryProbed():
                self.stage = "sentry"
            case _:
                pass

    def _update_item_and_attempts(self, event: kinds.Event) -> None:
        if isinstance(event, kinds.ItemStarted):
            # Only the previous item stays in the lanes, so that a viewer who joins late sees the same page.
            lanes = self.lanes.items()
            self.lanes = {place: lane if lane.rule == self.focus else Lane(place) for place, lane in lanes}
            self.focus, self.tries = event.rule, []
        if isinstance(event, kinds.AttemptStarted):
            self.tries = [*self.tries, AttemptView(event.attempt, event.lessons, event.offered)]
        elif self.tries:
            self.tries[-1] = advance_attempt_view(self.tries[-1], event)
