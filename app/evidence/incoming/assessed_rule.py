"""One rule's result in a foreign assessment file."""

from dataclasses import dataclass
from typing import Literal

Finding = Literal["open", "closed", "undecided"]
"""closed: holds or not applicable. undecided: not reviewed, not checked, error or unknown."""
MOST = 50_000
"""Most rules in one file."""


@dataclass(frozen=True)
class AssessedRule:
    names: tuple[str, ...]
    """The rule's names in the file, the plainest first."""
    finding: Finding


def parse_finding(word: str) -> Finding:
    """Parse a status of CKLB, CKL or XCCDF."""
    match word.strip().lower().replace("_", ""):
        case "open" | "fail":
            return "open"
        case "notafinding" | "notapplicable" | "pass" | "fixed":
            return "closed"
        case _:
            return "undecided"
