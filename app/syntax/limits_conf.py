"""Parser for limits.conf and limits.d: domain, type, item, value. The folder comes last; later lines count."""

from dataclasses import dataclass

from app.syntax import host_text, key_value_config_parsers
from app.syntax.host_files_protocol import Files

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
    def is_hard(self) -> bool:
        return self.kind in {"hard", "-"}


def parse_limits(text: str, path: str) -> list[Limit]:
    found = []
    for number, line in host_text.number_lines(text):
        words = host_text.split_words(line.partition("#")[0])
        if len(words) == 4:
            kind, item = map(host_text.fold_case, words[1:3])
            found.append(Limit(words[0], kind, item, words[3], path, number))
    return found


def list_exempt_domains(text: str) -> list[str]:
    """Return the domains of lines with two words, `domain -`: no limit applies to them."""
    rows = [host_text.split_words(line.partition("#")[0]) for _number, line in host_text.number_lines(text)]
    return [row[0] for row in rows if len(row) == 2 and row[1] == "-"]


def read_limits(files: Files) -> list[Limit]:
    return key_value_config_parsers.read_setting_files(
        files, [MAIN, *host_text.glob_paths_like_shell(files, FOLDER)], parse_limits
    )
