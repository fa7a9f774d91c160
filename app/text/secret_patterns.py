"""Patterns of known secrets, one per program or format, all of linear cost. secret_patterns.toml has them."""

import re
from pathlib import Path

import msgspec

GONE = "[secret]"


class _Tables(msgspec.Struct):
    pieces: dict[str, str]
    whole: dict[str, str]
    behind: dict[str, str]


_TABLES = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=_Tables)


def _fill_pieces_and_compile(pattern: str) -> re.Pattern[str]:
    for name, piece in _TABLES.pieces.items():
        pattern = pattern.replace(f"{{{name}}}", piece)
    return re.compile(pattern)


WHOLE = tuple((_fill_pieces_and_compile(pattern), GONE) for pattern in _TABLES.whole.values())
"""Patterns that match the secret alone."""
BEHIND = tuple((_fill_pieces_and_compile(pattern), rf"\1{GONE}") for pattern in _TABLES.behind.values())
"""Patterns that match a prefix, which stays, and the secret."""
