"""Parsers for files with one option per line, one for each program's dialect."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from app.syntax import host_text
from app.syntax.host_files_protocol import Files
from app.syntax.setting import BadSetting, Setting

Parser = Callable[[str, str], list[Setting]]
T = TypeVar("T")

_OPTION = re.compile(r"([^ \t\r\f\v=]+)[ \t\r\f\v]*=?[ \t\r\f\v]*(.*)", re.DOTALL)
_LOGIN_DEF = re.compile(r'[ \t]*([^ \t#][^ \t]*)[ \t][ \t"]*([^"]*)', re.DOTALL)


def parse_options(text: str, path: str) -> list[Setting]:
    """Parse pwquality.conf, faillock.conf and the like: `key = value`, `key value` or `key`; # starts a comment."""
    lines = ((number, line.partition("#")[0].strip(host_text.TRAIL)) for number, line in host_text.number_lines(text))
    found = ((number, _OPTION.match(line)) for number, line in lines)
    return [Setting(one[1], one[2].strip(host_text.TRAIL), path, number) for number, one in found if one]


def parse_login_defs(text: str, path: str) -> list[Setting]:
    """Parse login.defs: a name, blanks, the rest of the line. A # after the value is part of it."""
    lines = host_text.number_lines(text)
    found = ((number, _LOGIN_DEF.match(line.rstrip(host_text.TRAIL))) for number, line in lines)
    return [Setting(one[1], one[2], path, number) for number, one in found if one]


def parse_auditd_with_problems(text: str, path: str) -> tuple[list[Setting], list[BadSetting]]:
    """Parse auditd.conf: split at spaces only, with = as a word of its own. Keys are case-insensitive."""
    settings: list[Setting] = []
    problems: list[BadSetting] = []
    for number, line in host_text.number_lines(text):
        words = [word for word in line.rstrip("\r").split(" ") if word]
        if not words or words[0].startswith("#"):
            continue
        if len(words) < 3 or words[1] != "=":
            key = host_text.fold_case(re.split(r"[=\t ]", words[0])[0])
            problems.append(BadSetting("auditd wants `key = value` with a space on each side of =", path, number, key))
            continue
        settings.append(Setting(host_text.fold_case(words[0]), " ".join(words[2:]), path, number))
    return settings, problems


def read_setting_files(files: Files, paths: Iterable[str], parse: Callable[[str, str], list[T]]) -> list[T]:
    """Return what `parse` finds in all files, in the given order; an absent file has nothing."""
    found: list[T] = []
    for path in paths:
        text = host_text.read_text(files, path)
        if text is not None:
            found += parse(text, path)
    return found


_SECTION = re.compile(r"\[([^\]]*)\][ \t\r]*")


def parse_section(line: str) -> str | None:
    match = _SECTION.fullmatch(line)
    return None if match is None else match[1]


def parse_pair(line: str) -> tuple[str, str] | None:
    """Parse a `key = value` line. A line that starts with a blank continues the one above and returns None."""
    if line[:1] in {"", "#", ";", "[", *host_text.TRAIL} or "=" not in line:
        return None
    key, _, value = line.partition("=")
    return key.rstrip(host_text.TRAIL), value.strip(host_text.TRAIL)


def parse_ini(text: str, path: str) -> list[Setting]:
    found: list[Setting] = []
    name, open_pair = "", False
    for number, line in host_text.number_lines(text):
        header, here = parse_section(line), parse_pair(line)
        if header is not None:
            name, open_pair = header, False
        elif here is not None:
            found.append(Setting(f"{name}.{here[0]}", here[1], path, number))
            open_pair = True
        elif open_pair and line[:1] in {" ", "\t"} and line.strip(host_text.TRAIL):
            above = found.pop()
            extended = f"{above.value} {line.strip(host_text.TRAIL)}".strip(host_text.TRAIL)
            found.append(Setting(above.key, extended, path, above.line))
        else:
            open_pair = False
    return found


def list_lines_dnf_rejects(text: str) -> list[tuple[int, str]]:
    """Return the lines at which dnf's INI parser gives up on the file, with their numbers."""
    found: list[tuple[int, str]] = []
    has_section = open_pair = False
    for number, line in host_text.number_lines(text):
        if not line or line[0] in "#;":
            open_pair = False
        elif line[0] in {" ", "\t"}:
            found += [] if open_pair or not line.strip() else [(number, line)]
        elif line[0] == "[":
            has_section, open_pair = bool(parse_section(line)), False
            found += [] if has_section else [(number, line)]
        else:
            key = parse_pair(line)
            open_pair = has_section and key is not None and bool(key[0])
            found += [] if open_pair else [(number, line)]
    return found
