"""Which role used an engine and when, for the engine's label and its time axis."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from app.events.event_field_types import Role
from app.events.kinds import Event, TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.machine.sampling.engine_outages_from_log import EngineOutage

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

    def is_recent(self, at: float) -> bool:
        return self.until is None or at - self.until < HOLD_SECONDS


@dataclass
class EngineHolds:
    by_engine: dict[str, list[EngineHold]] = field(default_factory=dict)
    reading: frozenset[str] = frozenset()
    """Engines that are reading a prompt and have not produced a token."""

    def apply_event(self, event: Event, at: float) -> None:
        match event:
            case TurnStarted():
                self.begin_turn(event, at)
            case TurnDelta():
                name = self.find_engine(event.turn)
                if name and self.by_engine[name][-1].first is None:
                    self._replace_hold_and_end_reading(name, replace(self.by_engine[name][-1], first=at))
            case TurnFinished():
                self.close_turn(event.turn, at, event.ttft)
            case TurnInterrupted():
                self.close_turn(event.turn, at)
            case _:
                pass

    def begin_turn(self, event: TurnStarted, at: float) -> None:
        holds = self.by_engine.get(event.engine, [])
        recent = [hold for hold in holds if hold.is_recent(at)]
        self.by_engine[event.engine] = [*recent, EngineHold(event.role, event.turn, at, event.replica)]
        self.reading |= {event.engine}

    def close_turn(self, turn: str, at: float, ttft: float | None = None) -> None:
        """End a turn's hold. The time to first token is the end event's, so that late viewers draw the same axis."""
        if name := self.find_engine(turn):
            hold = self.by_engine[name][-1]
            first = None if ttft is None else hold.since + ttft
            self._replace_hold_and_end_reading(name, replace(hold, first=first, until=at))

    def close_all(self, at: float) -> None:
        """Close every open hold when the run ends."""
        for holds in list(self.by_engine.values()):
            if holds and holds[-1].until is None:
                self.close_turn(holds[-1].turn, at)

    def find_engine(self, turn: str) -> str | None:
        return next((name for name, holds in self.by_engine.items() if holds and holds[-1].turn == turn), None)

    def _replace_hold_and_end_reading(self, engine: str, hold: EngineHold) -> None:
        self.by_engine[engine] = [*self.by_engine[engine][:-1], hold]
        self.reading -= {engine}


@dataclass(frozen=True)
class HoldBar:
    """A bar on the time axis, in percent of its width."""

    role: Role
    left: float
    width: float
    prefill: bool
    lasts: bool = False
    """It goes on, so an open page lets it grow."""


@dataclass(frozen=True)
class GapBar:
    """A time in which the engine did not answer, in percent of the axis."""

    left: float
    width: float
    lasts: bool


def draw_hold_bars_outside_outages(
    holds: Sequence[EngineHold], now: float, span: float, outages: Sequence[EngineOutage] = ()
) -> list[HoldBar]:
    """Draw the holds of an engine, without the times in which it did not answer. `outages` are that engine's."""
    drawn = []
    for hold in holds:
        end = hold.until or now
        first = min(hold.first or end, end)
        for piece in (HoldPiece(hold.since, first, prefill=True), HoldPiece(first, end, prefill=False)):
            for since, until, prefill in _leave_outages_out(piece, outages):
                if (width := _to_axis_percent(until, now, span) - (left := _to_axis_percent(since, now, span))) > 0:
                    lasts = hold.until is None and until == now
                    drawn.append(HoldBar(hold.role, round(left, 2), round(width, 2), prefill, lasts))
    return drawn


def draw_outage_gaps(outages: Sequence[EngineOutage], now: float, span: float) -> list[GapBar]:
    """Draw the outages of an engine from their recorded begin to their recorded end."""
    drawn = []
    for one in outages:
        left, right = _to_axis_percent(one.since, now, span), _to_axis_percent(one.until or now, now, span)
        if right > left or one.until is None:
            drawn.append(GapBar(round(left, 2), round(right - left, 2), one.until is None))
    return drawn


def _to_axis_percent(at: float, now: float, span: float) -> float:
    return min(100.0, max(0.0, 100 * (1 - (now - at) / span)))


class HoldPiece(NamedTuple):
    since: float
    until: float
    prefill: bool


def _leave_outages_out(piece: HoldPiece, outages: Sequence[EngineOutage]) -> Iterator[HoldPiece]:
    """Yield the parts of the piece in which the engine worked."""
    at = piece.since
    for outage in outages:
        begin, end = max(at, outage.since), min(piece.until, outage.until or piece.until)
        if begin < end:
            yield piece._replace(since=at, until=begin)
            at = end
    yield piece._replace(since=at)
