"""Resume position of a stream viewer: from Last-Event-ID or the `since` parameter."""

from collections.abc import Mapping

from app.errors import Rejected

MOST_SEQ = 2**53
"""Larger than any run's seq; fits a database integer and a JavaScript number."""
DIGITS = 18
"""Digits of the largest 64-bit integer."""


def read_resume_position(headers: Mapping[str, str], since: str | None) -> int | None:
    """Return the last seq that the viewer has. Last-Event-ID wins: a reconnecting page still has `since` in its URL."""
    if said := headers.get("last-event-id"):
        return _parse_seq(said, "Last-Event-ID")
    return None if since is None else _parse_seq(since, "since")


def _parse_seq(text: str, source_name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise Rejected(
            source_name, f"{source_name} is the seq of an event, a whole number from 0 on; it says {text[:40]!a}."
        )
    return int(text)
