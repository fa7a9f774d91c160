"""The Scanner protocol. Pages always name the scanner behind a verdict."""

from collections.abc import Sequence
from typing import Protocol

from app.scanners.verdict import Verdict
from app.syntax.files import Files


class Scanner(Protocol):
    @property
    def name(self) -> str: ...

    async def scan(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Scan the host; return one verdict for each rule, in order."""

    async def fetch_fix_script(self, rule: str, /) -> str:
        """Return the vendor's fix script for the rule, with the site's values; "" if there is none."""

    async def scan_rehearsal(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Scan rehearsed files."""
