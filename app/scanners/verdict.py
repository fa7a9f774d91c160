"""A scanner's verdict on one rule."""

from dataclasses import dataclass

from app.events.words import Word


@dataclass(frozen=True)
class Verdict:
    rule: str
    word: Word
    evidence: str
    """One or two sentences: the finding, with file and line."""
    path: str | None = None
    line: int | None = None
