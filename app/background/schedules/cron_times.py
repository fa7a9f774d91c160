"""Compute when a schedule fires and which times were missed. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from app.background.schedules.schedule_window import is_soon_enough_to_start
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
    """Return the last passed time if it is recent enough to run now, and count the others as missed."""
    later = takewhile(lambda at: at <= now, _iterate_times(cron, zone, next_at))
    passed = [next_at, *(at for at, _ in zip(later, range(MOST_MISSED), strict=False))]
    taken = is_soon_enough_to_start(passed[-1], now, window)
    return Firing(passed[-1] if taken else None, len(passed) - taken, compute_next_time(cron, zone, now))


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
