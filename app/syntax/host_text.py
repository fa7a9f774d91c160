"""Host text as daemons see it: ASCII rules, and lines that end only at a newline.

Python's strip, split, lower and int know Unicode, daemons do not. A no-break space must not pass for a blank, a
Kelvin sign for a K, or an Arabic digit for a number.
"""

import re
from collections.abc import Callable, Iterator

from app.syntax.host_files_protocol import Files

BLANK = " \t"
TRAIL = " \t\r\f\v"
_DIGITS = re.compile(r"[0-9]{1,9}")
_UPPER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")


def decode_bytes(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def encode_text(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def read_text(files: Files, path: str) -> str | None:
    content = files.read(path)
    return None if content is None else decode_bytes(content)


def number_lines(text: str) -> Iterator[tuple[int, str]]:
    return enumerate(text.split("\n"), start=1)


def glob_paths_like_shell(files: Files, pattern: str) -> list[str]:
    """Return the matching paths, sorted and without hidden files like glob(3)."""
    hidden_too = pattern.rpartition("/")[2].startswith(".")
    return sorted(p for p in files.glob(pattern) if hidden_too or not p.rpartition("/")[2].startswith("."))


def fold_case(word: str) -> str:
    return word.lower() if word.isascii() else word.translate(_UPPER)


def split_words(line: str) -> list[str]:
    return [word for word in re.split(r"[ \t\r\f\v]+", line) if word]


def skip_letters(text: str, at: int, letters: str) -> int:
    """Return the position of the first letter from `at` on that is not one of these."""
    while at < len(text) and text[at] in letters:
        at += 1
    return at


def split_blank_separated_names(text: str) -> tuple[str, ...]:
    """Return the names of a table that is written as text."""
    return tuple(text.split())


def parse_natural_number(value: str) -> int | None:
    return int(value) if _DIGITS.fullmatch(value) else None


def parse_digits(value: str) -> float | None:
    """Return the number that ASCII digits spell, however many; None for another text. An int may have 4300 at most."""
    return float(value) if value.isascii() and value.isdigit() else None


def create_range_predicate(least: int, most: int) -> Callable[[str], bool]:
    """Return a predicate of texts that are natural numbers from `least` to `most`."""

    def is_in_range(value: str) -> bool:
        found = parse_natural_number(value)
        return found is not None and least <= found <= most

    return is_in_range
