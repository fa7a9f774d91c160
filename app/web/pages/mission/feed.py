"""Events as lines of a feed."""

from dataclasses import dataclass

from app.events.record import Recorded
from app.loop.telling import telling


@dataclass(frozen=True)
class FeedLine:
    seq: int
    at: float
    glyph: str
    kind: str
    text: str


def feed_line(recorded: Recorded) -> FeedLine | None:
    told = telling(recorded.event)
    return FeedLine(recorded.seq, recorded.at, told.glyph, told.kind, told.text) if told else None
