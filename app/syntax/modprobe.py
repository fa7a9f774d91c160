"""modprobe.d: install, blacklist, options and alias lines. Kernel modules do not tell - from _."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.syntax import source
from app.syntax.files import Files

FOLDER = "/etc/modprobe.d/*.conf"

_BLANKS = re.compile(r"[ \t]+")
_BRACKETS = re.compile(r"\[[^\]]*\]|-")


@dataclass(frozen=True)
class ModuleLine:
    command: str
    module: str
    rest: str
    path: str
    line: int


def module_lines(text: str, path: str) -> list[ModuleLine]:
    return _lines(_joined(text), path)


def dumped(text: str) -> list[ModuleLine]:
    """What modprobe prints with -c: a line is a line, and a backslash a letter."""
    return _lines(source.numbered(text), "")


def _lines(numbered: Iterable[tuple[int, str]], path: str) -> list[ModuleLine]:
    found = []
    for number, line in numbered:
        if line.startswith("#"):
            continue
        command, module, rest = [*_BLANKS.split(line.lstrip(" \t"), maxsplit=2), "", ""][:3]
        if command and module:
            found.append(ModuleLine(command, underscored(module), rest.rstrip(" \t"), path, number))
    return found


def underscored(module: str) -> str:
    """A pattern keeps what stands between brackets."""
    return _BRACKETS.sub(lambda found: "_" if found[0] == "-" else found[0], module)


def effective(files: Files) -> list[ModuleLine]:
    found: list[ModuleLine] = []
    for path in source.glob(files, FOLDER):
        text = source.text(files, path)
        if text is not None:
            found += module_lines(text, path)
    return found


def _joined(text: str) -> Iterator[tuple[int, str]]:
    """A backslash at the end takes in the next line as it stands; any other goes, and leaves what it stood before."""
    start, held = 1, ""
    for number, line in source.numbered(text):
        if not held:
            start = number
        # the escaped letters in pairs, so that two backslashes at the end are one letter
        body = re.sub(r"\\(.)", r"\1", line)
        if re.fullmatch(r"(?:[^\\]|\\.)*\\", line):
            held += body[:-1]
            continue
        yield start, held + body
        held = ""
    if held:
        yield start, held
