"""The state of the mission page: a fold of the run's events with details for display."""

from collections import deque
from dataclasses import dataclass, field

from app.events.kinds import (
    AttemptStarted,
    Event,
    ItemStarted,
    SentryProbed,
    TurnDelta,
    TurnFinished,
    TurnStarted,
    VerdictGiven,
)
from app.events.record import Recorded
from app.events.vocabulary import Role
from app.loop.state import RunState, apply_event
from app.web.pages.mission.attempts import AttemptView, apply_attempt_event
from app.web.pages.mission.engine_holds import EngineHolds
from app.web.pages.mission.feed import FeedLine, to_feed_line
from app.web.pages.mission.lane import ROLES, Lane, advance_lane

FEED_LINES = 60


@dataclass
class Mission:
    state: RunState = field(default_factory=RunState)
    lanes: dict[Role, Lane] = field(default_factory=lambda: {role: Lane(role) for role in ROLES})
    stage: Role = "architect"
    """The role whose lane is expanded: the one working, or the last one."""
    holds: EngineHolds = field(default_factory=EngineHolds)
    focus: str | None = None
    """The rule of the current item, or of the last one."""
    tries: list[AttemptView] = field(default_factory=list)
    change: AttemptView | None = None
    """The newest attempt that proposed a change, on this item or the one before."""
    feed: deque[FeedLine] = field(default_factory=lambda: deque(maxlen=FEED_LINES))
    newest: dict[str, TurnFinished] = field(default_factory=dict)
    """Each engine's newest finished turn, for its figures."""
    turn_began: int = 0
    """The seq at which the newest turn started."""

    def apply_event(self, recorded: Recorded) -> None:
        self.state = apply_event(self.state, recorded)
        event = recorded.event
        self._update_focus(event)
        self._advance_lanes(event)
        self.holds.apply_event(event, recorded.at)
        self._move_stage(event)
        if isinstance(event, TurnStarted):
            self.turn_began = recorded.seq
        if isinstance(event, TurnFinished) and (engine := self.holds.find_engine(event.turn)):
            self.newest[engine] = event
        if line := to_feed_line(recorded):
            self.feed.appendleft(line)

    def _advance_lanes(self, event: Event) -> None:
        match event:
            case TurnDelta() | TurnStarted():
                self.lanes[event.role] = advance_lane(self.lanes[event.role], event)
            case _:
                self.lanes = {role: advance_lane(lane, event) for role, lane in self.lanes.items()}

    def _move_stage(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self.stage = event.role
            case VerdictGiven(phase="attempt"):
                self.stage = "auditor"
            case SentryProbed():
                self.stage = "sentry"
            case _:
                pass

    def _update_focus(self, event: Event) -> None:
        if isinstance(event, ItemStarted):
            self._clear_older_lanes(self.focus)
            self.focus, self.tries = event.rule, []
        if isinstance(event, AttemptStarted):
            self.tries = [*self.tries, AttemptView(event.attempt, event.lessons, event.offered)]
        elif self.tries:
            self.tries[-1] = apply_attempt_event(self.tries[-1], event)
            if self.tries[-1].proposed:
                self.change = self.tries[-1]

    def _clear_older_lanes(self, before: str | None) -> None:
        """Keep only the previous item in the lanes, so that a viewer who joins late sees the same page."""
        self.lanes = {role: lane if lane.rule == before else Lane(role) for role, lane in self.lanes.items()}
        if self.change and self.change.rule != before:
            self.change = None
