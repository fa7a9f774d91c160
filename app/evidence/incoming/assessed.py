"""One rule as somebody else's papers have it."""

from dataclasses import dataclass
from typing import Literal

Finding = Literal["open", "closed", "undecided"]
"""closed: it holds or does not apply. undecided: not reviewed, not checked, error, unknown."""
MOST = 50_000
"""Rules in one file."""


@dataclass(frozen=True)
class Assessed:
    names: tuple[str, ...]
    """All that the file calls the rule, the plainest first."""
    finding: Finding


def finding(word: str) -> Finding:
    """Of CKLB, CKL and XCCDF alike."""
    match word.strip().lower().replace("_", ""):
        case "open" | "fail":
            return "open"
        case "notafinding" | "notapplicable" | "pass" | "fixed":
            return "closed"
        case _:
            return "undecided"
