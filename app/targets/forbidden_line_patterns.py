"""Patterns that no configuration line may contain, each with the policy clause that refuses it.

The grammar of each subject refuses these lines too; the patterns name the clause for the log and for the model.
"""

import re
from pathlib import Path

import msgspec

_PATTERNS = msgspec.toml.decode(Path(__file__).with_suffix(".toml").read_bytes(), type=dict[str, tuple[str, ...]])
_MODELINE = re.compile(r"(?:^|\s)(?:[Vv]im?[<=>]?[0-9]{0,4}|ex):\s*(?:set?\s|[a-z]+[=:])|-\*-|\bLocal Variables:")
_COMPILED = tuple((clause, re.compile(pattern)) for clause, patterns in _PATTERNS.items() for pattern in patterns)


def has_modeline(line: str) -> bool:
    """Return True if the line is a modeline, which an editor executes even in a comment."""
    return _MODELINE.search(line) is not None


def find_forbidden_clause(line: str) -> str | None:
    """Return the clause that refuses the line, or None if no pattern matches."""
    return next((clause for clause, pattern in _COMPILED if pattern.search(line)), None)
