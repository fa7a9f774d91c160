"""What a scanner says of one rule, and why."""

from dataclasses import dataclass

from app.events.words import Word


@dataclass(frozen=True)
class Verdict:
    rule: str
    word: Word
    evidence: str
    """One or two plain sentences: what was found, in which file and line."""
    path: str | None = None
    line: int | None = None
