"""Events as lines of a feed."""

from dataclasses import dataclass

from app.events.record import Recorded


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: float
    glyph: str
    kind: str
    text: str


def to_feed_line(recorded: Recorded) -> FeedLine | None:
    told = recorded.event.describe()
    return FeedLine(recorded.seq, recorded.at, told.glyph, told.kind, told.text) if told else None
