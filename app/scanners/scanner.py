"""Whoever gives verdicts. The page always says by name who gave them."""

from collections.abc import Sequence
from typing import Protocol

from app.scanners.verdict import Verdict
from app.syntax.files import Files


class Scanner(Protocol):
    @property
    def name(self) -> str: ...

    async def scan(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Of the host as it stands: one verdict for each rule, in the order asked."""

    async def remedy(self, rule: str, /) -> str:
        """A script that somebody else wrote for the rule, with the site's values; empty where there is none."""

    async def foresee(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Of a rehearsal, which is files and nothing else."""
