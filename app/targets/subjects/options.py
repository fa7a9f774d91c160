"""Files of one option a line: which options may be set, and to what. A pair of patterns each, whole match wanted."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from app.syntax import ini, keyvalue, sshd_line
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.targets.subjects.edit import Edit, Objection, is_live, not_understood, weakening

Read = Callable[[str], list[Setting]]


@dataclass(frozen=True)
class Options:
    """Called as a judge. `read` takes one line; keys are compared without regard to case."""

    read: Read
    good: tuple[tuple[str, str], ...]
    named: tuple[tuple[str, str], ...] = ()
    """Keys that have a clause of their own."""
    sections: tuple[str, ...] = ()
    weaker: str = "weakening"

    def __call__(self, edit: Edit) -> Objection | None:
        for line in filter(is_live, edit.added):
            found = self._added(edit, line)
            if found:
                return found
        kept = {
            fold(setting.key) for setting in self._settings((edit.after or "").split("\n")) if self._is_good(setting)
        }
        for line in filter(is_live, edit.removed):
            found = self._removed(edit, line, kept)
            if found:
                return found
        return None

    def _added(self, edit: Edit, line: str) -> Objection | None:
        if line in self.sections:
            return None
        settings = self.read(line)
        if not settings or line.endswith("\\"):
            return not_understood(edit.path, line)
        for setting in settings:
            clause = self._clause(setting)
            if clause:
                return Objection(clause, f"{edit.path}: {setting.key} is not ours to set.")
            if not self._is_known(setting):
                return not_understood(edit.path, line)
            if not self._is_good(setting):
                return Objection(self.weaker, f"{edit.path}: {setting.key} may not become {setting.value!r}.")
        return None

    def _removed(self, edit: Edit, line: str, kept: set[str]) -> Objection | None:
        """What was good must still be good elsewhere; what was not may go."""
        settings = self.read(line)
        if not settings:
            return not_understood(edit.path, line)
        for setting in settings:
            clause = self._clause(setting)
            if clause:
                return Objection(clause, f"{edit.path}: {setting.key} is not ours to remove.")
            if not self._is_known(setting):
                return not_understood(edit.path, line)
            if self._is_good(setting) and fold(setting.key) not in kept:
                return weakening(edit.path, line)
        return None

    def _settings(self, lines: Iterable[str]) -> list[Setting]:
        return [setting for line in lines if is_live(line) for setting in self.read(line)]

    def _clause(self, setting: Setting) -> str | None:
        return next((clause for key, clause in self.named if re.fullmatch(key, fold(setting.key))), None)

    def _is_known(self, setting: Setting) -> bool:
        return any(re.fullmatch(key, fold(setting.key)) for key, _value in self.good)

    def _is_good(self, setting: Setting) -> bool:
        return any(
            re.fullmatch(key, fold(setting.key)) and re.fullmatch(value, setting.value, re.ASCII)
            for key, value in self.good
        )


def plain(line: str) -> list[Setting]:
    return keyvalue.options(line, "")


def login_defs(line: str) -> list[Setting]:
    return keyvalue.login_defs(line, "")


def auditd(line: str) -> list[Setting]:
    settings, problems = keyvalue.auditd(line, "")
    return [] if problems else settings


def sections(line: str) -> list[Setting]:
    """A line of its own: one that starts with a blank would continue the one above."""
    return [Setting(setting.key.removeprefix("."), setting.value, "", 1) for setting in ini.options(line, "")]


def directives(line: str) -> list[Setting]:
    found = sshd_line.directive(line)
    return [] if found is None or found.fault else [Setting(found.keyword, found.value, "", 1)]
