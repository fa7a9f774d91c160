"""Patterns of secrets on command lines, in pipes, and in statements of databases and devices."""

import re
from pathlib import Path

import msgspec

from app.text.secret_patterns import GONE

_I = re.IGNORECASE
_VALUE = r"(?:\$?\"(?:[^\"\\\n]|\\.){0,256}(?:\"|$)|\$?'[^'\n]{0,256}(?:'|$)|[^\s'\"`|;)]{1,512})"
_AHEAD = r"(?:[ \t]{1,9}[^\n|;]{0,120}?)?[ \t]{1,9}"
"""What stands between a program and its option."""
_S = r"[ \t]{1,9}"
"""The blanks between two words."""


class _Tables(msgspec.Struct):
    stdin: tuple[str, ...]
    crypts: str
    places: tuple[str, ...]
    words: tuple[str, ...]
    options: dict[str, tuple[str, ...]]


_TABLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Tables)
_STDIN = "|".join(_TABLES.stdin)


def _fill_pieces(pattern: str) -> str:
    return pattern.replace("{STDIN}", _STDIN).replace("{CRYPTS}", _TABLES.crypts).replace("{S}", _S)


_OPTIONS = {_fill_pieces(program): tuple(map(_fill_pieces, options)) for program, options in _TABLES.options.items()}

_PIPED = re.compile(
    r"\b((?:echo|printf)[ \t]{1,9}(?:-[neE]{1,3}[ \t]{1,9})?(?:['\"]?%s(?:\\{1,2}n)?['\"]?[ \t]{1,9})?)[^\n|]{1,256}?"
    rf"(?=[ \t]{{0,9}}\|[ \t]{{0,9}}[^\n|]{{0,80}}?\b(?:sudo[ \t][^\n|]{{0,60}}?(?:-[a-zA-Z]{{0,6}}S|--stdin)|{_STDIN}"
    r"|[a-z][^\n|]{0,80}?--(?:password|passphrase)-(?:stdin|fd))\b)"
)
_SQL = re.compile(r"\b((?:IDENTIFIED(?:[ \t]WITH[ \t]\S{1,64})?[ \t](?:BY|AS)|PASSWORD)[ \t]{1,9})'[^'\n]{1,256}'?", _I)
_SENT = re.compile(r"(\bsend[ \t]{1,9}(?:--[ \t]{1,9})?)\"[^\"\n]{1,256}\\r\"")

_FORMS: tuple[re.Pattern[str], ...] = (
    *(
        re.compile(rf"(\b(?:{program}){_AHEAD}{option}){_VALUE}")
        for program, options in _OPTIONS.items()
        for option in options
    ),
    *(re.compile(rf"({place}){_VALUE}") for place in map(_fill_pieces, _TABLES.places)),
    _PIPED,
    _SQL,
    _SENT,
)
"""Patterns of a prefix, which stays, and the secret."""
_NAMES = re.compile(rf"\b(?:{'|'.join((*_OPTIONS, *_TABLES.words))})", _I)
"""A line without one of these matches no form; most lines have none, and each form costs a search."""


def redact_commands(text: str) -> str:
    if not _NAMES.search(text):
        return text
    return "\n".join(_redact_line(line) if _NAMES.search(line) else line for line in text.split("\n"))


def _redact_line(line: str) -> str:
    for form in _FORMS:
        line = form.sub(rf"\1{GONE}", line)
    return line
