"""The policy for option files: which keys may be set to which values, as pairs of full-match patterns."""

import itertools
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from app.syntax import host_text
from app.syntax.host_files_protocol import Files, FileState
from app.syntax.host_text import fold_case
from app.syntax.setting import Setting
from app.targets.overlay import Overlay
from app.targets.subjects.file_edit_given_to_judges import FileEdit, Objection, is_content_line

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
    spelt: Callable[[str], str] = fold_case
    """Spells a key as the patterns do; a key that the program would not know must match none."""
    whole: Callable[[str], list[Setting]] | None = None
    """Parses a whole text, for files in which a line's meaning depends on its section."""
    first_wins: bool = False
    """The first setting counts; its subject compares the effect itself."""

    def __call__(self, edit: FileEdit) -> Objection | None:
        lines = (edit.after or "").split("\n")
        kept = {self.spelt(setting.key) for setting in self._parse_lines(lines) if self._is_allowed_setting(setting)}
        added = ((line, None) for line in filter(is_content_line, edit.added) if line not in self.sections)
        removed = ((line, kept) for line in filter(is_content_line, edit.removed))
        found = (
            self._judge_added_or_removed_line(edit, line, still) for line, still in itertools.chain(added, removed)
        )
        return next(filter(None, found), None) or (None if self.first_wins else self._judge_effect(edit))

    def _judge_effect(self, edit: FileEdit) -> Objection | None:
        """Compare what is in force before and after: a moved line may disable the one that counted."""
        if edit.after is None or not edit.has_line_changes:
            return None
        changed = Overlay(edit.files, {edit.path: FileState(host_text.encode_text(edit.after), 0o600, "root:root")})
        old, new = (self._read_settings_of_this_file_alone(edit.path, files) for files in (edit.files, changed))
        for name in old | new:
            was, now = old.get(name), new.get(name)
            found = None if was == now else self._judge_setting_change(edit, was, now)
            if found:
                return found
        return None

    def _judge_setting_change(self, edit: FileEdit, was: Setting | None, now: Setting | None) -> Objection | None:
        for setting in (was, now):
            clause = self._find_refusal_clause(setting) if setting else None
            if setting and (clause or not self._is_known(setting)):
                return Objection(clause or "not understood", f"{edit.path}: {setting.key} would change its meaning.")
        if was is None or not self._is_allowed_setting(was):
            return None
        if now is None or not self._is_allowed_setting(now):
            value = "unset" if now is None else repr(now.value)
            return Objection(self.weaker, f"{edit.path}: {was.key} is {was.value!r} and may not become {value}.")
        return None

    def _read_settings_of_this_file_alone(self, path: str, files: Files) -> dict[str, Setting]:
        """Return the settings in force in this file; the last of a key counts. Other files are compared elsewhere."""
        text = host_text.read_text(files, path) or ""
        found: dict[str, Setting] = {}
        for setting in self.whole(text) if self.whole else self._parse_lines(text.split("\n")):
            short = setting.key.rpartition(".")[2] if self.whole else setting.key
            found[self.spelt(setting.key)] = Setting(short, setting.value, "", 0)
        return found

    def _judge_added_or_removed_line(
        self, edit: FileEdit, line: str, good_keys_still_set_if_removed: set[str] | None
    ) -> Objection | None:
        """Judge an added line; or a removed one, with the keys that other lines still set to good values."""
        settings = [] if good_keys_still_set_if_removed is None and line.endswith("\\") else self.read(line)
        for setting in settings:
            if clause := self._find_refusal_clause(setting):
                doing = "set" if good_keys_still_set_if_removed is None else "remove"
                return Objection(clause, f"{edit.path}: {setting.key} is not ours to {doing}.")
            if not self._is_known(setting):
                return edit.create_unknown_objection(line)
            is_allowed = self._is_allowed_setting(setting)
            if good_keys_still_set_if_removed is None and not is_allowed:
                return Objection(self.weaker, f"{edit.path}: {setting.key} may not become {setting.value!r}.")
            if (
                good_keys_still_set_if_removed is not None
                and is_allowed
                and self.spelt(setting.key) not in good_keys_still_set_if_removed
            ):
                return edit.create_weakening_objection(line)
        return None if settings else edit.create_unknown_objection(line)

    def _parse_lines(self, lines: Iterable[str]) -> list[Setting]:
        return [setting for line in lines if is_content_line(line) for setting in self.read(line)]

    def _find_refusal_clause(self, setting: Setting) -> str | None:
        return next((clause for key, clause in self.named.items() if re.fullmatch(key, fold_case(setting.key))), None)

    def _is_known(self, setting: Setting) -> bool:
        return any(re.fullmatch(key, self.spelt(setting.key)) for key in self.good)

    def _is_allowed_setting(self, setting: Setting) -> bool:
        return any(
            re.fullmatch(key, self.spelt(setting.key)) and re.fullmatch(value, setting.value, re.ASCII)
            for key, value in self.good.items()
        )
