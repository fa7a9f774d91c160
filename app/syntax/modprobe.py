"""modprobe.d: install, blacklist, options and alias lines. Kernel modules do not tell - from _."""

from dataclasses import dataclass

from app.files import Files
from app.syntax import source

FOLDER = "/etc/modprobe.d/*.conf"


@dataclass(frozen=True)
class ModuleLine:
    command: str
    module: str
    rest: str
    path: str
    line: int


def module_lines(text: str, path: str) -> list[ModuleLine]:
    found = []
    for number, line in source.joined(text):
        words = source.words(line)
        if len(words) > 1 and not words[0].startswith("#"):
            found.append(ModuleLine(words[0], words[1].replace("-", "_"), " ".join(words[2:]), path, number))
    return found


def effective(files: Files) -> list[ModuleLine]:
    found: list[ModuleLine] = []
    for path in source.glob(files, FOLDER):
        text = source.text(files, path)
        if text is not None:
            found += module_lines(text, path)
    return found
