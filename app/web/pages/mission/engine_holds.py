"""Which role used an engine and when, for the engine's label and its time axis."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.events.kinds import Event, TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.events.words import Role

HOLD_SECONDS = 120.0


@dataclass(frozen=True)
class Hold:
    role: Role
    turn: str
    since: float
    replica: int = 0
    first: float | None = None
    """Time of the first token: the engine reads the prompt before it and decodes after it."""
    until: float | None = None

    def decoding(self, at: float) -> "Hold":
        return replace(self, first=at)


def hand_over(holds: list[Hold], event: TurnStarted, at: float, keep: float) -> list[Hold]:
    recent = [hold for hold in holds if hold.until is None or at - hold.until < keep]
    return [*recent, Hold(event.role, event.turn, at, event.replica)]


def let_go(holds: list[Hold], turn: str, at: float, ttft: float | None = None) -> list[Hold]:
    """End the hold of `turn`. The time to first token comes from the end event, so late viewers draw the same axis."""
    return [_ended(hold, at, ttft) if hold.turn == turn else hold for hold in holds]


def _ended(hold: Hold, at: float, ttft: float | None) -> Hold:
    return replace(hold, first=None if ttft is None else hold.since + ttft, until=at)


@dataclass
class EngineHolds:
    """The engine holds of one run, folded from its turns."""

    of: dict[str, list[Hold]] = field(default_factory=dict)
    """Holds of the last two minutes, by engine."""
    reading: frozenset[str] = frozenset()
    """Engines that are reading a prompt and have not produced a token."""

    def take(self, event: Event, at: float) -> None:
        match event:
            case TurnStarted():
                self.of[event.engine] = hand_over(self.of.get(event.engine, []), event, at, HOLD_SECONDS)
                self.reading |= {event.engine}
            case TurnDelta():
                self._first_token(event.turn, at)
            case TurnFinished():
                self._leave(event.turn, at, event.ttft)
            case TurnInterrupted():
                self._leave(event.turn, at, None)
            case _:
                pass

    def end(self, at: float) -> None:
        """Close every open hold when the run ends."""
        for holds in list(self.of.values()):
            if holds and holds[-1].until is None:
                self._leave(holds[-1].turn, at, None)

    def engine_of(self, turn: str) -> str | None:
        return next((name for name, holds in self.of.items() if holds and holds[-1].turn == turn), None)

    def _leave(self, turn: str, at: float, ttft: float | None) -> None:
        if name := self.engine_of(turn):
            self.of[name] = let_go(self.of[name], turn, at, ttft)
            self.reading -= {name}

    def _first_token(self, turn: str, at: float) -> None:
        name = self.engine_of(turn)
        if name and self.of[name][-1].first is None:
            self.of[name][-1] = self.of[name][-1].decoding(at)
            self.reading -= {name}


@dataclass(frozen=True)
class Bar:
    """A bar on the time axis, in percent of its width."""

    role: Role
    left: float
    width: float
    prefill: bool


def bars(holds: Sequence[Hold], now: float, span: float) -> list[Bar]:
    drawn = []
    for hold in holds:
        end = hold.until or now
        first = min(hold.first or end, end)
        for since, until, prefill in ((hold.since, first, True), (first, end, False)):
            left = max(0.0, 100 * (1 - (now - since) / span))
            right = max(0.0, 100 * (1 - (now - until) / span))
            if right > left:
                drawn.append(Bar(hold.role, round(left, 2), round(right - left, 2), prefill))
    return drawn
