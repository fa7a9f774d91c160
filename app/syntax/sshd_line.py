"""One line of sshd_config: a keyword, then arguments as OpenSSH 8.7 splits them."""

import re
from dataclasses import dataclass

from app.syntax.source import TRAIL

_KEYWORD = re.compile(r'[ \t\r]*(?:"([^"]*)"|([^ \t\r="]+))[ \t\r]*=?[ \t\r]*')


@dataclass(frozen=True)
class Directive:
    keyword: str
    arguments: tuple[str, ...]
    fault: str = ""

    @property
    def value(self) -> str:
        return " ".join(self.arguments)


def directive(line: str) -> Directive | None:
    stripped = line.rstrip(TRAIL)
    if not stripped or stripped.lstrip(TRAIL).startswith("#"):
        return None
    match = _KEYWORD.match(stripped)
    if match is None:
        return Directive(stripped.lstrip(TRAIL)[:40], (), "no keyword can be read")
    keyword = match[1] if match[1] is not None else match[2]
    arguments = split(stripped[match.end() :])
    if arguments is None:
        return Directive(keyword, (), "a quote is not closed")
    return Directive(keyword, tuple(arguments), "" if arguments else "the value is missing")


def split(rest: str) -> list[str] | None:
    """Words with quotes and backslashes resolved, up to a comment. None when a quote stays open."""
    return _scan(rest)[0]


def comment(rest: str) -> str:
    """The comment behind the arguments, with the blanks that set it off."""
    at = _scan(rest)[1]
    return rest[len(rest[:at].rstrip(TRAIL)) :]


def _scan(rest: str) -> tuple[list[str] | None, int]:
    found: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at] in TRAIL:
            at += 1
            continue
        if rest[at] == "#":
            break
        word, at = _word(rest, at)
        if word is None:
            return None, len(rest)
        found.append(word)
    return found, at


def _word(rest: str, at: int) -> tuple[str | None, int]:
    quote, word = "", ""
    while at < len(rest):
        letter, following = rest[at], rest[at + 1 : at + 2]
        if letter == "\\" and following and (following in "\"'\\" or (not quote and following == " ")):
            word += following
            at += 1
        elif not quote and letter in " \t":
            break
        elif not quote and letter in "\"'":
            quote = letter
        elif letter == quote:
            quote = ""
        else:
            word += letter
        at += 1
    return (None if quote else word), at
