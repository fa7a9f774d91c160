"""Parser for audit rule files: one auditctl command per line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from app.syntax import host_text
from app.syntax.audit_rule_normalization import parse_audit_rule
from app.syntax.auditctl import split_audit_line_at_spaces_ignoring_quotes
from app.syntax.setting import Setting

_Version = list[tuple[list[int], int]]
"""The parts of a name: the weights of letters, and the number behind them."""
CONTROLS = ("-b", "-e", "-f", "-r")

_SWITCH = re.compile(r"--(?:backlog_wait_time|loginuid-immutable)")
_SUFFIX = re.compile(r"(?:\.[A-Za-z~][A-Za-z0-9~]*)*$")
_LONGEST_LINE = 6143
_PARTS = re.compile(r"([^0-9]*)([0-9]*)")
_EXCEPTION = re.compile(r"-[aA] (?:never,\S+|\S+,never|\S+,exclude|exclude,\S+)(?= |$)")


@dataclass(frozen=True)
class AuditLine:
    words: tuple[str, ...]
    path: str
    line: int

    @property
    def control(self) -> Setting | None:
        """The setting of a control such as `-f 2` or `-f2`; None for rules about files or calls."""
        name, value = self.words[0][:2], self.words[0][2:]
        if name not in CONTROLS:
            return None
        return Setting(name, " ".join([*([value] if value else []), *self.words[1:]]), self.path, self.line)

    @property
    def system_setting(self) -> Setting | None:
        """The setting of a control or of a system-wide long option."""
        if _SWITCH.fullmatch(self.words[0]):
            return Setting(self.words[0], " ".join(self.words[1:]), self.path, self.line)
        return self.control

    @property
    def normalized_or_raw_rule_text(self) -> str | None:
        """The rule in a normalized spelling: a watch becomes a rule about a path, as in the kernel."""
        if self.words[0] not in ("-a", "-A", "-w"):
            return None
        parsed = parse_audit_rule(self.words)
        return " ".join(self.words) if parsed is None else parsed.normalized_text


def is_exception(rule_text: str) -> bool:
    """Return True if the rule excludes events from the record."""
    return _EXCEPTION.match(rule_text) is not None


def parse_audit_lines(text: str, path: str) -> list[AuditLine]:
    """Return the commands of a file. auditctl cuts long lines, and takes each piece for a line of its own."""
    return [
        AuditLine(words, path, number)
        for number, line in host_text.number_lines(text)
        for piece in split_line_at_auditctl_buffer_size(line)
        if (words := split_audit_line_at_spaces_ignoring_quotes(piece)) and not words[0].startswith("#")
    ]


def split_line_at_auditctl_buffer_size(line: str) -> list[str]:
    return [line[at : at + _LONGEST_LINE] for at in range(0, max(len(line), 1), _LONGEST_LINE)]


def parse_controls(text: str, path: str) -> list[Setting]:
    return [line.control for line in parse_audit_lines(text, path) if line.control]


def merge_rule_files_like_augenrules(sorted_paths_and_texts: Iterable[tuple[str, str]]) -> list[AuditLine]:
    """Merge rule files, each a path and its text, as augenrules does.

    The last -D, -b and -f come first, the last -e comes at the end. Each line keeps its place of origin.
    """
    heads: dict[str, list[AuditLine]] = {"-D": [], "-b": [], "-f": [], "-e": []}
    rest: list[AuditLine] = []
    for path, text in sorted_paths_and_texts:
        for number, line in host_text.number_lines(text):
            body = line.lstrip(host_text.TRAIL)
            parsed = [AuditLine(one.words, path, number) for one in parse_audit_lines(line, path)]
            switch = next((name for name in heads if body.startswith(name)), None)
            if switch is None or (switch == "-D" and body.rstrip(host_text.TRAIL) != "-D"):
                rest += [] if body.startswith("#") else parsed
            else:
                heads[switch] = parsed
    return [*heads["-D"], *heads["-b"], *heads["-f"], *rest, *heads["-e"]]


def sort_by_version(paths: Iterable[str]) -> list[str]:
    """Sort paths like `ls -v`: numbers in names by value."""
    return sorted(paths, key=lambda path: _build_version_key(path.rpartition("/")[2]))


def _build_version_key(name: str) -> tuple[_Version, _Version, str]:
    return _parse_version(_SUFFIX.sub("", name)), _parse_version(name), name


def _parse_version(name: str) -> _Version:
    return [([*map(_rank_letter_in_version_sort, text), 0], int(digits or 0)) for text, digits in _PARTS.findall(name)]


def _rank_letter_in_version_sort(letter: str) -> int:
    if letter == "~":
        return -1
    return ord(letter) if letter.isalpha() else ord(letter) + 256
