"""The time window of a schedule: how late its work may still begin, and when Temper stops it. Pure."""

from app.errors import Rejected
from app.events.event_field_types import Mode

START_GRACE = 60.0
"""Seconds after which a time counts as missed, unless the window is longer."""
LONGEST_WINDOW = 7 * 24 * 60.0
_MINUTE = 60.0


def parse_window_minutes(minutes_text: str) -> float | None:
    """Parse the field of a form. Empty: no window."""
    try:
        return float(minutes_text) if minutes_text.strip() else None
    except ValueError:
        raise Rejected("window_minutes", f"{minutes_text[:40]!a} is not a number of minutes.") from None


def validate_window_to_seconds(minutes: float | None, mode: Mode) -> float | None:
    """Convert a window to seconds. Raise Rejected if it is too long, or absent where the mode needs one."""
    if minutes is not None and not 0 < minutes <= LONGEST_WINDOW:
        raise Rejected("window_minutes", f"a window must have more than 0 and at most {LONGEST_WINDOW:g} minutes.")
    if mode == "auto" and minutes is None:
        request = "give a window in minutes, after which Temper stops the run"
        raise Rejected("window_minutes", f"the mode auto changes a host without supervision: {request}.")
    return minutes * _MINUTE if minutes else None


def is_within_window_or_start_grace(due_at: float, now: float, window_seconds: float | None) -> bool:
    return now - due_at <= max(START_GRACE, window_seconds or 0.0)


def is_window_over(fired_at: float | None, now: float, window_seconds: float | None) -> bool:
    """Return True if the work that began at `fired_at` has to be stopped."""
    return bool(fired_at and window_seconds and now >= fired_at + window_seconds)
