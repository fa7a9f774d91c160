"""Parser for limits.conf and limits.d: domain, type, item, value. The folder comes last; later lines count."""

from dataclasses import dataclass

from app.syntax import source
from app.syntax.files import Files

MAIN = "/etc/security/limits.conf"
FOLDER = "/etc/security/limits.d/*.conf"


@dataclass(frozen=True)
class Limit:
    domain: str
    kind: str
    """hard, soft, or - for both"""
    item: str
    value: str
    path: str
    line: int

    @property
    def hard(self) -> bool:
        return self.kind in {"hard", "-"}


def limits(text: str, path: str) -> list[Limit]:
    found = []
    for number, line in source.numbered(text):
        words = source.words(line.partition("#")[0])
        if len(words) == 4:
            found.append(Limit(words[0], source.fold(words[1]), source.fold(words[2]), words[3], path, number))
    return found


def exempt(text: str) -> list[str]:
    """Return the domains of lines with two words, `domain -`: no limit applies to them."""
    rows = [source.words(line.partition("#")[0]) for _number, line in source.numbered(text)]
    return [row[0] for row in rows if len(row) == 2 and row[1] == "-"]


def effective(files: Files) -> list[Limit]:
    found: list[Limit] = []
    for path in [MAIN, *source.glob(files, FOLDER)]:
        text = source.text(files, path)
        if text is not None:
            found += limits(text, path)
    return found
