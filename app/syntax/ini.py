"""Parser for files with [sections]: dnf.conf, *.repo, mission.conf. Keys are section.key; the last line counts."""

import re

from app.syntax import host_text
from app.syntax.setting import Setting

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
