"""Parses the report of a host script: rows of a word, a name or exit code, and untrusted text."""

from collections.abc import Iterable
from dataclasses import dataclass

_FIELDS = 3


@dataclass(frozen=True)
class HostReport:
    rows: tuple[tuple[str, str, str], ...]

    def get_rows(self, word: str) -> list[tuple[str, str]]:
        return [(name, text) for said, name, text in self.rows if said == word]

    def find_row(self, word: str) -> tuple[str, str] | None:
        return next(iter(self.get_rows(word)), None)

    def get_lines(self, word: str, name: str) -> list[str]:
        """Return the lines for a word and name, without the exit status in front."""
        return [text for about, text in self.get_rows(word) if about == name][1:]

    def find_exit_code(self, word: str, name: str) -> int | None:
        """Return the exit code of the program; None if none ran."""
        first = next((text for about, text in self.get_rows(word) if about == name), "")
        digits = first.removeprefix("code ")
        return int(digits) if digits.isascii() and digits.isdecimal() and first != digits else None


def parse_host_report(lines: Iterable[str]) -> HostReport:
    found = (line.split("\t", _FIELDS - 1) for line in lines)
    return HostReport(tuple((one[0], one[1], one[2]) for one in found if len(one) == _FIELDS))
