"""The Scanner protocol. Pages always name the scanner behind a verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from app.events.vocabulary import Word
from app.syntax.files import Files


@dataclass(frozen=True)
class Verdict:
    rule: str
    word: Word
    evidence: str
    """One or two sentences: the finding, with file and line."""
    path: str | None = None
    line: int | None = None


class Scanner(Protocol):
    @property
    def name(self) -> str: ...

    async def scan(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Scan the host; return one verdict for each rule, in order."""

    async def fetch_fix_script(self, rule: str, /) -> str:
        """Return the vendor's fix script for the rule, with the site's values; "" if there is none."""

    async def scan_rehearsal(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Scan rehearsed files."""
