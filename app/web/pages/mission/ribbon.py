"""Who held an engine, and when: the ribbon under its label."""

from dataclasses import dataclass, replace

from app.events.kinds import TurnStarted
from app.events.words import Role


@dataclass(frozen=True)
class Hold:
    role: Role
    turn: str
    since: float
    replica: int = 0
    first: float | None = None
    """When the first token came: before it the engine reads the prompt, after it decodes."""
    until: float | None = None

    def decoding(self, at: float) -> "Hold":
        return replace(self, first=at)


def hand_over(holds: list[Hold], event: TurnStarted, at: float, keep: float) -> list[Hold]:
    recent = [hold for hold in holds if hold.until is None or at - hold.until < keep]
    return [*recent, Hold(event.role, event.turn, at, event.replica)]


def let_go(holds: list[Hold], turn: str, at: float, ttft: float | None = None) -> list[Hold]:
    """The end knows when the first token came, whoever saw it come: a late viewer draws the same ribbon."""
    return [_ended(hold, at, ttft) if hold.turn == turn else hold for hold in holds]


def _ended(hold: Hold, at: float, ttft: float | None) -> Hold:
    return replace(hold, first=None if ttft is None else hold.since + ttft, until=at)


@dataclass(frozen=True)
class Bar:
    """A stretch of the ribbon, in percent of its width."""

    role: Role
    left: float
    width: float
    prefill: bool


def bars(holds: list[Hold], now: float, span: float) -> list[Bar]:
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
