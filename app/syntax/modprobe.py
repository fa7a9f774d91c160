"""Parser for modprobe.d: install, blacklist, options and alias lines. Module names treat - and _ alike."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files

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


def parse_module_lines(text: str, path: str) -> list[ModuleLine]:
    return _parse_numbered_lines(_join_lines(text), path)


def parse_modprobe_dump(text: str) -> list[ModuleLine]:
    """Parse the output of modprobe -c, in which a backslash does not continue a line."""
    return _parse_numbered_lines(host_text.number_lines(text), "")


def _parse_numbered_lines(numbered: Iterable[tuple[int, str]], path: str) -> list[ModuleLine]:
    found = []
    for number, line in numbered:
        if line.startswith("#"):
            continue
        command, module, rest = [*_BLANKS.split(line.lstrip(" \t"), maxsplit=2), "", ""][:3]
        if command and module:
            found.append(ModuleLine(command, normalize_module_name(module), rest.rstrip(" \t"), path, number))
    return found


def normalize_module_name(module: str) -> str:
    """Return the name with _ for -, except between brackets of a pattern."""
    return _BRACKETS.sub(lambda found: "_" if found[0] == "-" else found[0], module)


def read_etc_module_lines(files: Files) -> list[ModuleLine]:
    return key_value_config_parsers.read_setting_files(
        files, host_text.glob_paths_like_shell(files, FOLDER), parse_module_lines
    )


def _join_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield logical lines. A final backslash joins the next line; any other is dropped and its letter kept."""
    start, held = 1, ""
    for number, line in host_text.number_lines(text):
        if not held:
            start = number
        # escaped letters in pairs: two backslashes at the end are one letter
        body = re.sub(r"\\(.)", r"\1", line)
        if re.fullmatch(r"(?:[^\\]|\\.)*\\", line):
            held += body[:-1]
            continue
        yield start, held + body
        held = ""
    if held:
        yield start, held
