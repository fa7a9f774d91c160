"""Set an option in files with one option per line, where the last line counts."""

import re
from dataclasses import dataclass

from app.syntax import host_text, key_value_config_parsers
from app.syntax.edit_lines import find_index_below_commented_default, get_index_after_all_lines, replace_or_insert_line
from app.syntax.key_value_config_parsers import Parser
from app.syntax.setting import Setting, find_last

_PARTS = re.compile(r"([ \t]*[^ \t=]+)([ \t]*=[ \t]*|[ \t]+)")
_BLANKS = re.compile(r"([ \t]*[^ \t]+)([ \t]+)")
_PAIR = re.compile(r"([^=]*[^= \t]|)([ \t]*=[ \t]*)")


@dataclass(frozen=True)
class OptionFile:
    parse: Parser
    separator: str
    """The separator of key and value if the file has no example."""
    comments: bool = False
    """A # after the value starts a comment."""
    folded: bool = False

    def get(self, text: str, key: str) -> str | None:
        found = [s for s in self.parse(text, "") if self._normalize_key(s.key) == self._normalize_key(key)]
        return found[-1].value if found else None

    def put(self, text: str, key: str, value: str) -> str:
        lines = text.split("\n")
        stated = self.parse(text, "")
        found = [s.line - 1 for s in stated if self._normalize_key(s.key) == self._normalize_key(key)]
        if found:
            line = self._rewrite_line(lines[found[-1]], key, value)
            return replace_or_insert_line(text, line, found[-1], found[:-1], 0)
        at = find_index_below_commented_default(text, key, len(lines))
        written = key + (self._find_separator(lines, stated) + value if value else "")
        return replace_or_insert_line(text, written, None, (), get_index_after_all_lines(text) if at is None else at)

    def _normalize_key(self, key: str) -> str:
        return host_text.fold_case(key) if self.folded else key

    def _match_key_and_separator(self, line: str) -> re.Match[str] | None:
        return (_PARTS if "=" in self.separator else _BLANKS).match(line)

    def _find_separator(self, lines: list[str], settings: list[Setting]) -> str:
        parts = (self._match_key_and_separator(lines[s.line - 1]) for s in settings if s.value)
        return next((part[2] for part in parts if part), self.separator)

    def _rewrite_line(self, line: str, key: str, value: str) -> str:
        comment = re.search(r"[ \t]*#.*", line) if self.comments else None
        body = line[: comment.start()] if comment else line
        parts = self._match_key_and_separator(body)
        start, between = (parts[1], parts[2]) if parts else (key, self.separator)
        return start + (between + value if value else "") + (comment[0].rstrip("\r") if comment else "")


def parse_auditd_settings(text: str, path: str) -> list[Setting]:
    return key_value_config_parsers.parse_auditd_with_problems(text, path)[0]


def find_ini_option(text: str, key: str) -> str | None:
    found = find_last(key_value_config_parsers.parse_ini(text, ""), key)
    return None if found is None else found.value


def put_ini_option(text: str, key: str, value: str) -> str:
    """Set `key`, spelled section.key; a section may have dots. A missing section is added at the end."""
    lines = text.split("\n")
    name, _, option = key.rpartition(".")
    stated = key_value_config_parsers.parse_ini(text, "")
    found = [s.line - 1 for s in stated if s.key == key]
    if found:
        keep = found[-1]
        parts = _PAIR.match(lines[keep])
        start = parts[1] + parts[2] if parts else f"{option}="
        drop = [
            index for start_at in found for index in range(start_at, _skip_indented_continuation_lines(lines, start_at))
        ]
        return replace_or_insert_line(text, start + value, keep, set(drop) - {keep}, 0)
    pairs = (_PAIR.match(lines[s.line - 1]) for s in stated if s.value)
    written = option + next((m[2] for m in pairs if m), " = ") + value
    headers = [index for index, line in enumerate(lines) if key_value_config_parsers.parse_section(line) == name]
    if not headers:
        return replace_or_insert_line(text, f"[{name}]\n{written}", None, (), get_index_after_all_lines(text))
    return replace_or_insert_line(text, written, None, (), _get_section_end(lines, headers[-1]))


def _skip_indented_continuation_lines(lines: list[str], index: int) -> int:
    """Return the index after the continuation lines of `index`."""
    index += 1
    while index < len(lines) and lines[index][:1] in {" ", "\t"} and lines[index].strip(host_text.TRAIL):
        index += 1
    return index


def _get_section_end(lines: list[str], header_index: int) -> int:
    last_line = header_index
    for index in range(header_index + 1, len(lines)):
        if key_value_config_parsers.parse_section(lines[index]) is not None:
            break
        if lines[index].strip(host_text.TRAIL):
            last_line = index
    return last_line + 1
