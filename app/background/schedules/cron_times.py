"""Compute when a schedule fires and which times were missed. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from app.background.schedules.schedule_start_grace_and_time_limit import START_GRACE, is_within_window_or_start_grace
from app.errors import Rejected

MOST_MISSED = 1000
EXAMPLE = '"30 2 * * 1-5" is half past two, Monday to Friday'


@dataclass(frozen=True)
class Firing:
    at: float | None
    """The time to run now; None if all times were missed."""
    missed: int
    next_at: float


def compute_next_time(cron: str, zone: str, after: float) -> float:
    try:
        return next(_iterate_times(cron, zone, after))
    except StopIteration:
        raise Rejected("cron", f"{cron!a} never occurs. Example: {EXAMPLE}.") from None


def compute_firing(cron: str, zone: str, next_at: float, now: float, window: float | None) -> Firing:
    """Return the last passed time if it is recent enough to run now, and count the others, to a limit, as missed."""
    passed = 1 + sum(1 for _ in islice(_iterate_passed_times(cron, zone, next_at, now), MOST_MISSED))
    # From where one could still start, since the count ends before the last one.
    earliest = max(next_at, now - max(START_GRACE, window or 0.0) - 1)
    *_, last = next_at, *_iterate_passed_times(cron, zone, earliest, now)
    taken = is_within_window_or_start_grace(last, now, window)
    return Firing(last if taken else None, passed - taken, compute_next_time(cron, zone, now))


def _iterate_passed_times(cron: str, zone: str, after: float, now: float) -> Iterator[float]:
    return takewhile(lambda at: at <= now, _iterate_times(cron, zone, after))


def _iterate_times(cron: str, zone: str, after: float) -> Iterator[float]:
    try:
        begin = datetime.fromtimestamp(after, UTC).astimezone(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, OSError) as exc:
        raise Rejected("zone", f"there is no time zone {zone!a}: give one such as Europe/Berlin, or UTC.") from exc
    try:
        found = CronSim(cron, begin)
    except CronSimError as exc:
        raise Rejected("cron", f"{cron!a} is not a valid cron expression ({exc}). Example: {EXAMPLE}.") from exc
    return (moment.timestamp() for moment in found)
