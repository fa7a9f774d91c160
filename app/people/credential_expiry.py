"""How long API tokens, links and sessions are valid, and when one has expired. Pure."""

from typing import Protocol

DEFAULT_TOKEN_DAYS, LONGEST_TOKEN_DAYS = 30, 366
DEFAULT_LINK_HOURS, LONGEST_LINK_HOURS = 24, 24 * 30
SESSION_SECONDS = 12 * 3600.0
BROWSER_SECONDS = 180 * 24 * 3600.0
"""How long a browser is known by a cookie of its own, which admits nobody."""


class Expiring(Protocol):
    expires_at: float
    ended_at: float | None
    """When it was revoked."""


def is_credential_valid(credential: Expiring, now: float) -> bool:
    """Return True if a token, link or session has neither expired nor been revoked."""
    return credential.ended_at is None and now < credential.expires_at
