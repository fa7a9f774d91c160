"""Where a viewer stands: what its browser says on coming back, or what a page or a client asked for."""

from collections.abc import Mapping

from app.errors import NotTaken

MOST_SEQ = 2**53
"""More events than any run has, and fewer than a database's integers, or a browser's, end at."""
DIGITS = 18
"""As many as every 64-bit integer holds."""


def cursor(headers: Mapping[str, str], since: str | None) -> int | None:
    """The seq that the viewer has. Last-Event-ID goes first: a page that comes back still has `since` in its URL."""
    if said := headers.get("last-event-id"):
        return _seq(said, "Last-Event-ID")
    return None if since is None else _seq(since, "since")


def _seq(text: str, where: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= DIGITS):
        raise NotTaken(where, f"{where} is the seq of an event, a whole number from 0 on; it says {text[:40]!a}.")
    return int(text)
