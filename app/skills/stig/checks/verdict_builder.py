"""Builds verdicts with evidence. Host text in it is quoted, cleaned and cut."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting

_LONGEST = 160
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def escape_and_shorten_host_text(value: str) -> str:
    """Escape all but plain ASCII, so that look-alikes and control sequences are visible."""
    cleaned = _UNPRINTABLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", value)
    return cleaned if len(cleaned) <= _LONGEST else f"{cleaned[:_LONGEST]}…"


class LocatedLine(Protocol):
    """A line of a host's file, whatever it states."""

    @property
    def path(self) -> str: ...
    @property
    def line(self) -> int: ...


def format_location(located_line: LocatedLine) -> str:
    return f"{escape_and_shorten_host_text(located_line.path)} line {located_line.line}"


@dataclass(frozen=True)
class RuleJudge:
    rule: str
    path: str
    """The deciding file, if no line can be named."""

    def create_text_check(self, judge: Callable[[Files, str], Verdict]) -> Check:
        """Return a check of the file's text, which fails if the file is absent."""

        def check_files(files: Files) -> Verdict:
            text = host_text.read_text(files, self.path)
            return self.report_absent() if text is None else judge(files, text)

        return check_files

    def passes(self, evidence: str) -> Verdict:
        return Verdict(self.rule, "pass", evidence, self.path)

    def fails(self, evidence: str, located_line: LocatedLine | None = None) -> Verdict:
        path, line = (located_line.path, located_line.line) if located_line else (self.path, None)
        return Verdict(self.rule, "fail", evidence, path, line)

    def passes_at(self, located_line: LocatedLine, evidence: str) -> Verdict:
        """Return a pass whose evidence begins with the line."""
        whole = f"{format_location(located_line)} {evidence}"
        return Verdict(self.rule, "pass", whole, located_line.path, located_line.line)

    def fails_at(self, located_line: LocatedLine, evidence: str) -> Verdict:
        return self.fails(f"{format_location(located_line)} {evidence}", located_line)

    def report_absent(self) -> Verdict:
        return self.fails(f"{self.path} is absent, so nothing states the setting.")

    def build_error_verdict_for_unreadable_setting(self, problem: BadSetting) -> Verdict:
        evidence = f"{format_location(problem)} cannot be judged: {escape_and_shorten_host_text(problem.text)}."
        return Verdict(self.rule, "error", evidence, problem.path, problem.line)
