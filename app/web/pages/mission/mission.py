"""What the mission page shows: a fold of the same events, with what only eyes need."""

from collections import deque
from dataclasses import dataclass, field

from app.events.kinds import (
    AttemptStarted,
    Event,
    ItemStarted,
    SentryProbed,
    TurnDelta,
    TurnFinished,
    TurnInterrupted,
    TurnStarted,
    VerdictGiven,
)
from app.events.record import Recorded
from app.events.words import Role
from app.loop.state import RunState, step
from app.web.pages.mission.attempts import AttemptView, tried
from app.web.pages.mission.feed import FeedLine, feed_line
from app.web.pages.mission.lane import ROLES, Lane, advance
from app.web.pages.mission.ribbon import Hold, hand_over, let_go

FEED_LINES = 60
HOLD_SECONDS = 120.0


@dataclass
class Mission:
    state: RunState = field(default_factory=RunState)
    lanes: dict[Role, Lane] = field(default_factory=lambda: {role: Lane(role) for role in ROLES})
    stage: Role = "architect"
    """Whose lane is shown in full: who is at work, or was last."""
    holds: dict[str, list[Hold]] = field(default_factory=dict)
    """Per engine: who held it when, the last two minutes."""
    focus: str | None = None
    """The rule of the item in work, or of the last one."""
    tries: list[AttemptView] = field(default_factory=list)
    """The attempts on it."""
    change: AttemptView | None = None
    """The newest attempt that came to a change, of this item or the one before."""
    feed: deque[FeedLine] = field(default_factory=lambda: deque(maxlen=FEED_LINES))
    newest: dict[str, TurnFinished] = field(default_factory=dict)
    """Per engine: its newest finished turn, for the figures."""
    reading: frozenset[str] = frozenset()
    """Engines that read a prompt and have not given a token yet."""
    turn_began: int = 0
    """The seq at which the newest turn began."""

    def take(self, recorded: Recorded) -> None:
        self.state = step(self.state, recorded)
        event = recorded.event
        self._focus(event)
        self._lanes(event, recorded.at)
        self._stage(event)
        if isinstance(event, TurnStarted):
            self.turn_began = recorded.seq
        if line := feed_line(recorded):
            self.feed.appendleft(line)

    def _lanes(self, event: Event, at: float) -> None:
        match event:
            case TurnDelta():
                self.lanes[event.role] = advance(self.lanes[event.role], event)
                self._first_token(event, at)
            case TurnStarted():
                self.lanes[event.role] = advance(self.lanes[event.role], event)
                self.holds[event.engine] = hand_over(self.holds.get(event.engine, []), event, at, HOLD_SECONDS)
                self.reading |= {event.engine}
            case TurnFinished() | TurnInterrupted():
                self._leave(event, at)
                self.lanes = {role: advance(lane, event) for role, lane in self.lanes.items()}
            case _:
                self.lanes = {role: advance(lane, event) for role, lane in self.lanes.items()}

    def _leave(self, event: TurnFinished | TurnInterrupted, at: float) -> None:
        for engine, holds in self.holds.items():
            if holds and holds[-1].turn == event.turn:
                ttft = event.ttft if isinstance(event, TurnFinished) else None
                self.holds[engine] = let_go(holds, event.turn, at, ttft)
                self.reading -= {engine}
                if isinstance(event, TurnFinished):
                    self.newest[engine] = event

    def _first_token(self, event: TurnDelta, at: float) -> None:
        for engine, holds in self.holds.items():
            if holds and holds[-1].turn == event.turn and holds[-1].first is None:
                holds[-1] = holds[-1].decoding(at)
                self.reading -= {engine}

    def _stage(self, event: Event) -> None:
        match event:
            case TurnStarted():
                self.stage = event.role
            case VerdictGiven(phase="attempt"):
                self.stage = "auditor"
            case SentryProbed():
                self.stage = "sentry"
            case _:
                pass

    def _focus(self, event: Event) -> None:
        if isinstance(event, ItemStarted):
            self._leave_behind(self.focus)
            self.focus, self.tries = event.rule, []
        if isinstance(event, AttemptStarted):
            self.tries = [*self.tries, AttemptView(event.attempt, event.lessons, event.offered)]
        elif self.tries:
            self.tries[-1] = tried(self.tries[-1], event)
            if self.tries[-1].proposed:
                self.change = self.tries[-1]

    def _leave_behind(self, before: str | None) -> None:
        """The item before stays in sight until it is replaced, and no older one: so whoever comes sees the same."""
        self.lanes = {role: lane if lane.rule == before else Lane(role) for role, lane in self.lanes.items()}
        if self.change and self.change.rule != before:
            self.change = None
