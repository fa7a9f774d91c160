"""Parser for one line of sshd_config: a keyword and arguments, split as in OpenSSH 8.7 and later."""

import re
from dataclasses import dataclass
from functools import lru_cache

from app.syntax.host_text import BLANK, TRAIL, skip_letters

_DELIMITER = re.compile(r'[ \t\r\n"=]')
_BLANKS = " \t\r\n"
_END = " \t\r\n\f"


@dataclass(frozen=True)
class Directive:
    keyword: str
    arguments: tuple[str, ...]
    fault: str = ""
    rest: str = ""
    """The raw text after the keyword: some keywords split it differently."""

    @property
    def value(self) -> str:
        return " ".join(self.arguments)


@lru_cache(4096)
def parse_directive(line: str) -> Directive | None:
    stripped = line.lstrip(" \t\r")
    stripped = stripped[:1] + stripped[1:].rstrip(_END)
    keyword, rest = split_first_word(stripped)
    if keyword == "" and rest is not None:
        keyword, rest = split_first_word(rest)
    if not keyword or keyword.startswith("#"):
        return None  # a keyword with an open quote is ignored too
    if not rest:
        return Directive(keyword, (), "the value is missing")
    arguments = split_arguments(rest)
    if arguments is None:
        return Directive(keyword, (), "a quote is not closed", rest)
    return Directive(keyword, tuple(arguments), "" if arguments else "the value is missing", rest)


def split_first_word(text: str) -> tuple[str | None, str | None]:
    """Return the word up to a blank, quote or equals sign, and the rest; (None, None) for an open quote.

    Keywords and words of Match lines are split like this, all else by `split_arguments`.
    """
    found = _DELIMITER.search(text)
    if found is None:
        return text, None
    at, letter = found.start(), found[0]
    if letter == '"':
        close = text.find('"', at + 1)
        if close < 0:
            return None, None
        return text[:at] + text[at + 1 : close], text[skip_letters(text, close + 1, _BLANKS) :]
    after = skip_letters(text, at + 1, _BLANKS)
    if letter != "=" and text[after : after + 1] == "=":
        after = skip_letters(text, after + 1, _BLANKS)
    return text[:at], text[after:]


def split_arguments(rest: str) -> list[str] | None:
    """Return the words before a comment, with quotes and backslashes resolved; None for an open quote."""
    return _split_words_and_find_comment(rest)[0]


def extract_comment(rest: str) -> str:
    """Return the comment after the arguments, with the blanks before it."""
    at = _split_words_and_find_comment(rest)[1]
    return rest[len(rest[:at].rstrip(TRAIL)) :]


def _split_words_and_find_comment(rest: str) -> tuple[list[str] | None, int]:
    found: list[str] = []
    at = 0
    while at < len(rest):
        if rest[at] in BLANK:
            at += 1
            continue
        if rest[at] == "#":
            break
        word, at = _scan_word_or_none_if_unclosed(rest, at)
        if word is None:
            return None, len(rest)
        found.append(word)
    return found, at


def _scan_word_or_none_if_unclosed(rest: str, at: int) -> tuple[str | None, int]:
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
