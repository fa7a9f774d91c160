"""The Scanner protocol. Pages always name the scanner behind a verdict."""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from app.errors import find_storage_fault
from app.events.event_field_types import Word
from app.syntax.host_files_protocol import Files
from app.text.redaction import redact_secrets


@dataclass(frozen=True)
class Verdict:
    rule: str
    word: Word
    evidence: str
    """One or two sentences: the finding, with file and line."""
    path: str | None = None
    line: int | None = None


Progress = Callable[[int], None]
"""Called on the event loop with the number of rules judged so far."""


class Scanner(Protocol):
    @property
    def name(self) -> str: ...

    async def scan(self, files: Files, rules: Sequence[str], on_judged_count: Progress | None = None) -> list[Verdict]:
        """Scan the host; return one verdict for each rule, in order."""

    async def fetch_fix_script(self, rule: str, /) -> str:
        """Return the vendor's fix script for the rule, with the site's values; "" if there is none."""

    async def scan_rehearsal_if_supported(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        """Scan rehearsed files."""


log = logging.getLogger(__name__)


class BuiltinScanner:
    name = "built-in"

    def __init__(self, checks: Mapping[str, Callable[[Files], Verdict]]) -> None:
        self._checks = checks

    async def scan(self, files: Files, rules: Sequence[str], on_judged_count: Progress | None = None) -> list[Verdict]:  # noqa: ARG002  (it is over at once)
        return await asyncio.to_thread(self.judge_rules, files, rules)

    scan_rehearsal_if_supported = scan
    """It reads only files, so a rehearsal is scanned like a host."""

    async def fetch_fix_script(self, _rule: str) -> str:
        """Return "": the built-in rules have no vendor scripts."""
        return ""

    def judge_rules(self, files: Files, rules: Sequence[str]) -> list[Verdict]:
        return [self._judge_rule(files, rule) for rule in rules]

    def _judge_rule(self, files: Files, rule: str) -> Verdict:
        check = self._checks.get(rule)
        if check is None:
            return Verdict(rule, "unknown", "The built-in scanner has no check for this rule.")
        try:
            verdict = check(files)
        except Exception as exc:  # an error that a hostile file causes must not read as a pass
            if fault := find_storage_fault(exc):
                raise fault from exc  # it says nothing about the host
            log.exception("check broke", extra={"rule": rule})
            return Verdict(rule, "error", f"The check broke off ({type(exc).__name__}); the rule was not judged.")
        if verdict.rule != rule:
            return Verdict(rule, "error", "The check answered for another rule; this one was not judged.")
        return replace(verdict, evidence=redact_secrets(verdict.evidence))
