"""Families of files whose lines are settings: how each is parsed and changed. The data is stated_families.toml."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from app.syntax import edit_lines, host_text, key_value_config_parsers

_DATA = Path(__file__).with_name("stated_families.toml")
OTHER = "line"
"""The key of a line that is no setting of its family."""


@dataclass(frozen=True)
class StatedSetting:
    key: str
    """`SECTION/KEY` in files with sections, `[SECTION]` for a header, `KEY WORD` where a value is a list of words."""
    value: str
    line: int

    @property
    def key_and_value_text(self) -> str:
        return self.value if self.key == OTHER else f"{self.key} {self.value}".strip()


class Family(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    name: str
    paths: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]
    line: str
    good: tuple[str, ...] = ()
    """Settings that may be made where a rule states them, without the variable where its words are the settings."""
    good_of: str = ""
    """The family whose `good` also holds here."""
    clause: str = "not understood"
    """The clause that refuses anything else."""
    comments: str = "#"
    sections: bool = False
    home: dict[str, str] = {}
    """The section of keys that texts state without one."""
    continued: bool = False
    """An indented line continues the one above it."""
    repeats: bool = False
    """A key may stand in many lines, and all of them count."""
    words: bool = False
    """A value is a list of words, each a setting of its own."""
    partial: bool = False
    """Another judge judges the other lines."""
    ranks: dict[str, Literal["lower", "higher", "days", "mask", "hash"]] = {}
    """Which value of a key is the stricter one. It may not become looser, even if a rule states it."""
    clashes: dict[str, str] = {}
    """Keys that would harm a host on which a line of the family has this pattern."""
    mode: str = "0644"
    """The widest mode of a new file."""
    existing: bool = False
    """Only a file that is there may be changed: where it is not, the program reads another one."""
    longest: int = 1024

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(self.line, re.ASCII)

    @cached_property
    def _permitted(self) -> tuple[str, ...]:
        return (*self.good, *(one for family in load_families() if family.name == self.good_of for one in family.good))

    def is_permitted_if_stated(self, setting: StatedSetting) -> bool:
        """Return True if the setting may be made where a rule states it."""
        key = setting.key.partition(" ")[2] if self.words else setting.key
        stated = any(re.fullmatch(one, f"{key} {setting.value}", re.ASCII) for one in self._permitted)
        return setting.key != OTHER and (stated or _is_header(setting))

    def is_permitted_line(self, line: str) -> bool:
        """Return True if the line needs no section and has only settings that may be made where a rule states them."""
        settings = self.list_settings(line)
        return bool(settings) and all(map(self.is_permitted_if_stated, settings))

    def format_asks_entry(self, setting: StatedSetting) -> str:
        """Return the setting as `Rule.asks` has it."""
        return f"{self.name} {setting.key} {setting.value}"

    def list_settings(self, text: str) -> list[StatedSetting]:
        """Return each live line: a section's header, a setting, its words, or a line that is none of these."""
        found: list[StatedSetting] = []
        section, doubled = "", _get_words_repeated_across_lines(text) if self.words else frozenset()
        for number, line in host_text.number_lines(text):
            body = line.rstrip(host_text.TRAIL)
            if self.continued and found and body[:1] in {" ", "\t"}:
                above = found.pop()
                found.append(StatedSetting(above.key, f"{above.value}\n{body}", above.line))
            elif not body.strip() or body.startswith(tuple(self.comments)):
                continue
            elif self.sections and (header := key_value_config_parsers.parse_section(body)):
                section = header
                found.append(StatedSetting(f"[{section}]", "", number))
            else:
                found += self._iterate_line_settings(section, body, number, doubled)
        return found

    def _iterate_line_settings(
        self, section: str, body: str, number: int, keys_to_leave_unparsed: frozenset[str]
    ) -> Iterator[StatedSetting]:
        match = self.pattern.fullmatch(body)
        if match is None or (self.sections and not section) or match["key"] in keys_to_leave_unparsed:
            yield StatedSetting(OTHER, body, number)
        elif self.words:
            for word in match["value"].split():
                name, _, value = word.partition("=")
                yield StatedSetting(f"{match['key']} {name}", value, number)
        else:
            key = f"{section}/{match['key']}" if section else match["key"]
            yield StatedSetting(key, match["value"] or "", number)

    def list_stated_line_settings(self, section: str, line: str) -> list[StatedSetting]:
        """Return the settings of a line that a text states, in the section that the text names or in the key's own."""
        if self.words:
            line = re.sub(r" ?\.\.\. ?", "", line)  # "..." stands for the words of the host
        return self.list_settings(self._prefix_with_section(section, line))

    def _prefix_with_section(self, section: str, line: str) -> str:
        match = self.pattern.fullmatch(line) if self.sections else None
        section = (section or self.home.get(match["key"], "")) if match else ""
        return f"[{section}]\n{line}" if section else line

    def place_line(self, text: str, section: str, line: str) -> str:
        """Return the text with a stated line in its section, in place of the last line of its key if there is one."""
        stated, standing = self.list_stated_line_settings(section, line), self.list_settings(text)
        last = {one.key: one.value for one in standing}
        if not stated or all(last.get(one.key) == one.value for one in stated):
            return text
        if self.words:
            return self._write_words_into_list(text, stated)
        same = [] if self.repeats else [one.line - 1 for one in standing if one.key == stated[-1].key]
        if same:
            return edit_lines.replace_or_insert_line(text, line, same[-1], (), 0)
        start = stated[0].key if _is_header(stated[0]) else ""
        ends = [one.line + one.value.count("\n") for one in standing if start and _is_within(one, start)]
        if ends:
            return edit_lines.replace_or_insert_line(text, line, None, (), ends[-1])
        return edit_lines.replace_or_insert_line(
            text, self._prefix_with_section(section, line), None, (), edit_lines.get_index_after_all_lines(text)
        )

    def _write_words_into_list(self, text: str, settings_to_write: Sequence[StatedSetting]) -> str:
        """Change and add words of the one line of this key; all its other words stay."""
        name, wanted = settings_to_write[0].key.partition(" ")[0], [_format_word(one) for one in settings_to_write]
        found = [(at, match) for at, one in enumerate(text.split("\n")) if (match := self._match_variable(one, name))]
        at, match = found[-1] if found else (None, None)
        words = dict.fromkeys(match["value"].split() if match else ())
        for new in wanted:
            old = [word for word in words if word.partition("=")[0] == new.partition("=")[0]]
            words = dict.fromkeys(new if word in old else word for word in words) | {new: None}
        line = " ".join([name, *words]).strip() if self._is_without_quotes else f'{name}="{" ".join(words)}"'
        end = edit_lines.get_index_after_all_lines(text) if at is None else 0
        return edit_lines.replace_or_insert_line(text, line, at, (), end)

    @property
    def _is_without_quotes(self) -> bool:
        return "quote" not in self.pattern.groupindex

    def _match_variable(self, line: str, name: str) -> re.Match[str] | None:
        match = self.pattern.fullmatch(line.rstrip(host_text.TRAIL))
        return match if match and match["key"] == name else None


class _Families(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    families: tuple[Family, ...]


@cache
def load_families() -> tuple[Family, ...]:
    return msgspec.convert(tomllib.loads(_DATA.read_text()), _Families).families


def find_stated_family(path: str) -> Family | None:
    """Return the family of a file; None for most files."""
    return next((one for one in load_families() if any(_is_path_matched(path, pattern) for pattern in one.paths)), None)


def _is_path_matched(path: str, pattern: str) -> bool:
    return path.count("/") == pattern.count("/") and fnmatchcase(path, pattern)


def _is_header(setting: StatedSetting) -> bool:
    return setting.key.startswith("[")


def _format_word(setting: StatedSetting) -> str:
    name = setting.key.partition(" ")[2]
    return f"{name}={setting.value}" if setting.value else name


def _is_within(setting: StatedSetting, header: str) -> bool:
    return setting.key == header or setting.key.startswith(f"{header[1:-1]}/")


def _get_words_repeated_across_lines(text: str) -> frozenset[str]:
    """Return the words of more than one live line: the last assignment of a variable may drop what others set."""
    lines = (line for line in text.split("\n") if not line.startswith("#"))
    found = Counter(word for line in lines for word in set(re.findall(r"\w+", line, re.ASCII)))
    return frozenset(word for word, count in found.items() if count > 1)
