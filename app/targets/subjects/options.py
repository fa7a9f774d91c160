"""The policy for option files: which keys may be set to which values, as pairs of full-match patterns."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from app.syntax import ini, keyvalue, source, sshd_line
from app.syntax.files import Files, FileState
from app.syntax.setting import Setting
from app.syntax.source import fold
from app.targets.overlay import Overlay
from app.targets.subjects.edit import Edit, Objection, is_live, not_understood, weakening

Read = Callable[[str], list[Setting]]


@dataclass(frozen=True)
class OptionJudge:
    """A judge for one kind of option file. `read` parses one line."""

    read: Read
    good: Mapping[str, str]
    named: Mapping[str, str] = field(default_factory=dict)
    """Keys with a clause of their own."""
    sections: tuple[str, ...] = ()
    weaker: str = "weakening"
    spelt: Callable[[str], str] = fold
    """Spells a key as the patterns do; a key that the program would not know must match none."""
    whole: Callable[[str], list[Setting]] | None = None
    """Parses a whole text, for files in which a line's meaning depends on its section."""
    first_wins: bool = False
    """The first setting counts; its subject compares the effect itself."""

    def __call__(self, edit: Edit) -> Objection | None:
        for line in filter(is_live, edit.added):
            found = self._added(edit, line)
            if found:
                return found
        kept = {
            self.spelt(setting.key)
            for setting in self._settings((edit.after or "").split("\n"))
            if self._is_good(setting)
        }
        for line in filter(is_live, edit.removed):
            found = self._removed(edit, line, kept)
            if found:
                return found
        return None if self.first_wins else self._by_effect(edit)

    def _by_effect(self, edit: Edit) -> Objection | None:
        """Compare what is in force before and after: a moved line may disable the one that counted."""
        if edit.after is None or not edit.rewrites:
            return None
        changed = Overlay(edit.files, {edit.path: FileState(source.encode(edit.after), 0o600, "root:root")})
        old, new = self._in_force(edit.path, edit.files), self._in_force(edit.path, changed)
        for name in old | new:
            was, now = old.get(name), new.get(name)
            found = None if was == now else self._compared(edit, was, now)
            if found:
                return found
        return None

    def _compared(self, edit: Edit, was: Setting | None, now: Setting | None) -> Objection | None:
        for setting in (was, now):
            clause = self._clause(setting) if setting else None
            if setting and (clause or not self._is_known(setting)):
                return Objection(clause or "not understood", f"{edit.path}: {setting.key} would get another meaning.")
        if was is None or not self._is_good(was):
            return None
        if now is None or not self._is_good(now):
            value = "unset" if now is None else repr(now.value)
            return Objection(self.weaker, f"{edit.path}: {was.key} is {was.value!r} and may not become {value}.")
        return None

    def _in_force(self, path: str, files: Files) -> dict[str, Setting]:
        """Return the settings in force in this file; the last of a key counts. Other files are compared elsewhere."""
        text = source.text(files, path) or ""
        found: dict[str, Setting] = {}
        for setting in self.whole(text) if self.whole else self._settings(text.split("\n")):
            short = setting.key.rpartition(".")[2] if self.whole else setting.key
            found[self.spelt(setting.key)] = Setting(short, setting.value, "", 0)
        return found

    def _added(self, edit: Edit, line: str) -> Objection | None:
        if line in self.sections:
            return None
        if line.endswith("\\"):
            return not_understood(edit.path, line)

        def ill(setting: Setting) -> Objection | None:
            if self._is_good(setting):
                return None
            return Objection(self.weaker, f"{edit.path}: {setting.key} may not become {setting.value!r}.")

        return self._judged(edit, line, "set", ill)

    def _removed(self, edit: Edit, line: str, kept: set[str]) -> Objection | None:
        """Refuse to remove a good setting unless another line still sets it."""

        def ill(setting: Setting) -> Objection | None:
            lost = self._is_good(setting) and self.spelt(setting.key) not in kept
            return weakening(edit.path, line) if lost else None

        return self._judged(edit, line, "remove", ill)

    def _judged(
        self, edit: Edit, line: str, doing: str, ill: Callable[[Setting], Objection | None]
    ) -> Objection | None:
        settings = self.read(line)
        for setting in settings:
            if clause := self._clause(setting):
                return Objection(clause, f"{edit.path}: {setting.key} is not ours to {doing}.")
            if not self._is_known(setting):
                return not_understood(edit.path, line)
            if found := ill(setting):
                return found
        return None if settings else not_understood(edit.path, line)

    def _settings(self, lines: Iterable[str]) -> list[Setting]:
        return [setting for line in lines if is_live(line) for setting in self.read(line)]

    def _clause(self, setting: Setting) -> str | None:
        return next((clause for key, clause in self.named.items() if re.fullmatch(key, fold(setting.key))), None)

    def _is_known(self, setting: Setting) -> bool:
        return any(re.fullmatch(key, self.spelt(setting.key)) for key in self.good)

    def _is_good(self, setting: Setting) -> bool:
        return any(
            re.fullmatch(key, self.spelt(setting.key)) and re.fullmatch(value, setting.value, re.ASCII)
            for key, value in self.good.items()
        )


def as_written(key: str) -> str:
    return key


def upper(key: str) -> str:
    """Fold an uppercase key; any other spelling matches no pattern."""
    return fold(key) if key.isupper() else key.upper()


def plain(line: str) -> list[Setting]:
    return keyvalue.options(line, "")


def assigned(line: str) -> list[Setting]:
    """Parse a sysctl line. It needs an equals sign, and a # after the value is part of the value."""
    return plain(line) if "=" in line and not re.search(r"[#;]", line) else []


def selinux(line: str) -> list[Setting]:
    """Parse a line of the SELinux configuration. A blank before the equals sign makes it invalid."""
    match = re.fullmatch(r"(SELINUX|SELINUXTYPE)=([a-z]+)[ \t]*", line)
    return [Setting(match[1], match[2], "", 1)] if match else []


def whole_sections(text: str) -> list[Setting]:
    return ini.options(text, "")


def login_defs(line: str) -> list[Setting]:
    return keyvalue.login_defs(line, "")


def auditd(line: str) -> list[Setting]:
    settings, problems = keyvalue.auditd(line, "")
    return [] if problems else settings


def sections(line: str) -> list[Setting]:
    """Parse one option line. A line that starts with a blank would continue the one above."""
    return [Setting(setting.key.removeprefix("."), setting.value, "", 1) for setting in ini.options(line, "")]


def directives(line: str) -> list[Setting]:
    found = sshd_line.directive(line)
    return [] if found is None or found.fault else [Setting(found.keyword, found.value, "", 1)]
