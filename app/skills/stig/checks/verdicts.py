"""Builds verdicts with evidence. Host text in it is quoted, cleaned and cut."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from app.events.vocabulary import Word
from app.scanners.scanner import Verdict
from app.skills.skill import Check
from app.syntax import host_text
from app.syntax.files import Files
from app.syntax.setting import Setting

_LONGEST = 160
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]")


def quote_host_text(value: str) -> str:
    """Escape all but plain ASCII, so that look-alikes and control sequences are visible."""
    cleaned = _UNPRINTABLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", value)
    return cleaned if len(cleaned) <= _LONGEST else f"{cleaned[:_LONGEST]}…"


def format_location(setting: Setting) -> str:
    return f"{quote_host_text(setting.path)} line {setting.line}"


@dataclass(frozen=True)
class RuleJudge:
    """Creates the verdicts of one rule."""

    rule: str
    path: str
    """The deciding file, if no line can be named."""

    def check_text(self, judge: Callable[[Files, str], Verdict]) -> Check:
        """Return a check of the file's text, which fails if the file is absent."""

        def check_files(files: Files) -> Verdict:
            text = host_text.read_text(files, self.path)
            return self.report_absent() if text is None else judge(files, text)

        return check_files

    def passes(self, evidence: str, at: Setting | None = None) -> Verdict:
        return self._create_verdict("pass", evidence, at)

    def fails(self, evidence: str, at: Setting | None = None) -> Verdict:
        return self._create_verdict("fail", evidence, at)

    def report_absent(self) -> Verdict:
        return self._create_verdict("fail", f"{self.path} is absent, so nothing states the setting.", None)

    def report_unreadable(self, path: str, line: int, why: str) -> Verdict:
        evidence = f"{quote_host_text(path)} line {line} cannot be judged: {quote_host_text(why)}."
        return Verdict(self.rule, "error", evidence, path, line)

    def _create_verdict(self, word: Word, evidence: str, at: Setting | None) -> Verdict:
        if at is None:
            return Verdict(self.rule, word, evidence, self.path)
        return Verdict(self.rule, word, evidence, at.path, at.line)
