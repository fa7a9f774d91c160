"""Which role used an engine and when, for the engine's label and its time axis."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from app.events.kinds import Event, TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.events.vocabulary import Role

HOLD_SECONDS = 120.0


@dataclass(frozen=True)
class EngineHold:
    role: Role
    turn: str
    since: float
    replica: int = 0
    first: float | None = None
    """Time of the first token: the engine reads the prompt before it and decodes after it."""
    until: float | None = None

    def with_first_token(self, at: float) -> "EngineHold":
        return replace(self, first=at)


def add_hold(holds: list[EngineHold], event: TurnStarted, at: float, keep: float) -> list[EngineHold]:
    recent = [hold for hold in holds if hold.until is None or at - hold.until < keep]
    return [*recent, EngineHold(event.role, event.turn, at, event.replica)]


def close_hold(holds: list[EngineHold], turn: str, at: float, ttft: float | None = None) -> list[EngineHold]:
    """End the hold of `turn`. The time to first token comes from the end event, so late viewers draw the same axis."""
    return [_close_hold_at(hold, at, ttft) if hold.turn == turn else hold for hold in holds]


def _close_hold_at(hold: EngineHold, at: float, ttft: float | None) -> EngineHold:
    return replace(hold, first=None if ttft is None else hold.since + ttft, until=at)


@dataclass
class EngineHolds:
    """The engine holds of one run, folded from its turns."""

    by_engine: dict[str, list[EngineHold]] = field(default_factory=dict)
    """Holds of the last two minutes, by engine."""
    reading: frozenset[str] = frozenset()
    """Engines that are reading a prompt and have not produced a token."""

    def apply_event(self, event: Event, at: float) -> None:
        match event:
            case TurnStarted():
                self.by_engine[event.engine] = add_hold(self.by_engine.get(event.engine, []), event, at, HOLD_SECONDS)
                self.reading |= {event.engine}
            case TurnDelta():
                self._mark_first_token(event.turn, at)
            case TurnFinished():
                self._close_turn(event.turn, at, event.ttft)
            case TurnInterrupted():
                self._close_turn(event.turn, at, None)
            case _:
                pass

    def close_all(self, at: float) -> None:
        """Close every open hold when the run ends."""
        for holds in list(self.by_engine.values()):
            if holds and holds[-1].until is None:
                self._close_turn(holds[-1].turn, at, None)

    def find_engine(self, turn: str) -> str | None:
        return next((name for name, holds in self.by_engine.items() if holds and holds[-1].turn == turn), None)

    def _close_turn(self, turn: str, at: float, ttft: float | None) -> None:
        if name := self.find_engine(turn):
            self.by_engine[name] = close_hold(self.by_engine[name], turn, at, ttft)
            self.reading -= {name}

    def _mark_first_token(self, turn: str, at: float) -> None:
        name = self.find_engine(turn)
        if name and self.by_engine[name][-1].first is None:
            self.by_engine[name][-1] = self.by_engine[name][-1].with_first_token(at)
            self.reading -= {name}


@dataclass(frozen=True)
class HoldBar:
    """A bar on the time axis, in percent of its width."""

    role: Role
    left: float
    width: float
    prefill: bool


def draw_hold_bars(holds: Sequence[EngineHold], now: float, span: float) -> list[HoldBar]:
    drawn = []
    for hold in holds:
        end = hold.until or now
        first = min(hold.first or end, end)
        for since, until, prefill in ((hold.since, first, True), (first, end, False)):
            left = max(0.0, 100 * (1 - (now - since) / span))
            right = max(0.0, 100 * (1 - (now - until) / span))
            if right > left:
                drawn.append(HoldBar(hold.role, round(left, 2), round(right - left, 2), prefill))
    return drawn
