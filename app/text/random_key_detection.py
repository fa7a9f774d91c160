"""Find keys and tokens of unknown form by how often their letters change kind."""

import itertools
import re

from app.text.secret_patterns import GONE

_WORD = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{12,}={0,2}")
_HEX = re.compile(r"[0-9a-fA-F]{32,}")
_UUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_NAMED_DIGEST = re.compile(r"(?:sha[0-9]{1,3}|md5)[:=/ -]\Z", re.IGNORECASE)
_PUBLIC = ("AAAAB3Nza", "AAAAC3Nza", "AAAAE2Vj", "AAAAG", "AAAAI")
"""Prefixes of SSH public keys, which are no secret."""
_SHORTEST, _SHORTEST_CLOSED = 20, 12
_CHANGES, _CHANGES_SHORT = 0.35, 0.45
"""The share of neighbouring letters that change between small, capital and digit; random words have more.

The second is for words that are short or have no digits.
"""


def redact_keys(text: str, *, from_restricted_file: bool = False) -> str:
    shortest = _SHORTEST_CLOSED if from_restricted_file else _SHORTEST

    def redact_match(match: re.Match[str]) -> str:
        known = _NAMED_DIGEST.search(text, max(0, match.start() - 8), match.start())
        return match[0] if known or not is_key(match[0], shortest) else GONE

    return _WORD.sub(redact_match, text)


def is_key(word: str, shortest: int = _SHORTEST) -> bool:
    if word.startswith(_PUBLIC) or _UUID.fullmatch(word):
        return False
    if _HEX.search(word) and any(letter.isdigit() for letter in word) and any(letter.isalpha() for letter in word):
        return True
    kinds = [_classify_letter(letter) for letter in word]
    if len(kinds) < shortest or not {*("aA" if len(kinds) >= _SHORTEST else "aA0")} <= {*kinds}:
        return False
    changes = sum(one != other and "_" not in (one, other) for one, other in itertools.pairwise(kinds))
    return changes >= (_CHANGES if len(kinds) >= _SHORTEST and "0" in kinds else _CHANGES_SHORT) * (len(kinds) - 1)


def _classify_letter(letter: str) -> str:
    if not letter.isalnum():
        return "_"
    if letter.isdigit():
        return "0"
    return "A" if letter.isupper() else "a"
