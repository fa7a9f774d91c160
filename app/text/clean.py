"""Clean hostile text of models and hosts: remove control sequences and invisible characters."""

import re
from pathlib import Path

_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor, erase
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC and its kin: titles, links
    r"|\x1b[ -/]*[0-~]"
)
_NEW_LINE = re.compile("\r\n?|[\u2028\u2029]")
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 and C1 but tab and newline
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f"  # no width
    "\u202a-\u202e\u2066-\u2069"  # bidi
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
    "\U000e0000-\U000e0fff\ud800-\udfff]"  # tags, and halves of pairs that no encoder takes
)


def clean_text(text: str, limit: int) -> str:
    """Return the cleaned text, cut to `limit` characters with an ellipsis."""
    head = text[: limit * 8 + 64]  # bounds the work on a megabyte of escapes
    seen = _UNSEEN.sub("", _SEQUENCE.sub("", _NEW_LINE.sub("\n", head)))
    if len(seen) <= limit and len(head) == len(text):
        return seen
    return seen[: max(limit - 1, 0)] + "…"


def clean_line(text: str, limit: int) -> str:
    return " ".join(clean_text(text, limit).split())


def get_last_line(text: str, limit: int) -> str:
    """Return the last line that says something, cleaned; an empty string if none does."""
    return next(filter(None, (clean_text(line.strip(), limit).strip() for line in reversed(text.splitlines()))), "")


def read_with_excess_byte(path: Path, most: int) -> bytes:
    """Read at most `most` bytes plus one: the extra byte tells the caller that the file is too large."""
    with path.open("rb") as file:
        return file.read(most + 1)
