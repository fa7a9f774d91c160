"""Times to come and times that nobody was there for, on made-up clocks."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from app.background.schedules.cron_times import compute_firing, compute_next_time
from app.background.schedules.schedule_start_grace_and_time_limit import START_GRACE
from app.errors import BadInput

BERLIN = "Europe/Berlin"
DAY = 86400.0


def at(text, zone="UTC"):
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp()


def test_the_next_time_is_in_the_zone_that_was_asked_for():
    noon = at("2026-11-21T12:00")
    assert compute_next_time("30 2 * * *", "UTC", noon) == at("2026-11-22T02:30")
    assert compute_next_time("30 2 * * *", BERLIN, noon) == at("2026-11-22T02:30", BERLIN)
    assert compute_next_time("30 2 * * 1-5", "UTC", noon) == at("2026-11-23T02:30"), "not on a Sunday"


def test_the_hour_that_never_comes_is_taken_once_and_the_one_that_comes_twice_too():
    spring = compute_next_time("30 2 * * *", BERLIN, at("2027-03-28T00:00", BERLIN))
    assert spring == at("2027-03-28T03:00", BERLIN)
    assert compute_next_time("30 2 * * *", BERLIN, spring) == at("2027-03-29T02:30", BERLIN)
    autumn = compute_next_time("30 2 * * *", BERLIN, at("2026-10-25T00:00", BERLIN))
    assert autumn == at("2026-10-25T02:30", BERLIN)
    assert compute_next_time("30 2 * * *", BERLIN, autumn) == at("2026-10-26T02:30", BERLIN)


def test_on_time_nothing_is_missed():
    due = at("2026-11-22T02:30")
    found = compute_firing("30 2 * * *", "UTC", due, due + 1.5, None)
    assert (found.at, found.missed, found.next_at) == (due, 0, due + DAY)


def test_after_three_nights_off_all_are_missed_and_the_next_one_is_tonights():
    due = at("2026-11-22T02:30")
    found = compute_firing("30 2 * * *", "UTC", due, due + 2 * DAY + 3600, None)
    assert (found.at, found.missed, found.next_at) == (None, 3, due + 3 * DAY)


def test_in_an_open_window_the_last_one_is_taken_up_and_only_that():
    due = at("2026-11-22T02:30")
    found = compute_firing("30 2 * * *", "UTC", due, due + 2 * DAY + 3600, window=2 * 3600.0)
    assert (found.at, found.missed) == (due + 2 * DAY, 2)
    late = compute_firing("30 2 * * *", "UTC", due, due + 2 * DAY + 3 * 3600, window=2 * 3600.0)
    assert (late.at, late.missed) == (None, 3)


def test_a_minute_late_is_not_missed_and_more_is():
    due = at("2026-11-22T02:30")
    assert compute_firing("30 2 * * *", "UTC", due, due + START_GRACE, None).at == due
    assert compute_firing("30 2 * * *", "UTC", due, due + START_GRACE + 1, None).at is None


def test_a_long_absence_is_counted_to_a_limit_and_ends():
    found = compute_firing("* * * * *", "UTC", at("2026-01-01T00:00"), at("2026-11-21T00:00:30"), None)
    assert found.next_at == at("2026-11-21T00:01")
    assert found.missed >= 1000


def test_in_an_open_window_the_last_one_is_taken_up_after_any_number_of_missed_ones():
    due = at("2026-11-01T00:00")
    for back in (0.0, 30.0, 59.5):
        now = at("2026-11-21T00:00") + back
        assert compute_firing("* * * * *", "UTC", due, now, None).at == at("2026-11-21T00:00")
    assert compute_firing("*/30 * * * *", "UTC", due, now + 1800, 3600.0).at == at("2026-11-21T00:30")
    assert compute_firing("0 * * * *", "UTC", due, at("2026-12-31T00:30"), 1800.0).at == at("2026-12-31T00:00")
    assert compute_firing("0 * * * *", "UTC", due, at("2026-12-31T00:30") + 1, 1800.0).at is None


@pytest.mark.parametrize(
    ("cron", "zone", "sentence"),
    [
        ("every night", "UTC", "is not a valid cron expression"),
        ("99 2 * * *", "UTC", "half past two, Monday to Friday"),
        ("0 0 31 2 *", "UTC", "'0 0 31 2 *'"),
        ("0 0 * * *", "Mars/Olympus", "there is no time zone 'Mars/Olympus'"),
        ("0 0 * * *", "../../etc/passwd", "there is no time zone"),
        ("", "UTC", "is not a valid cron expression"),
    ],
)
def test_what_is_no_time_is_said_with_one_that_is(cron, zone, sentence):
    with pytest.raises(BadInput) as said:
        compute_next_time(cron, zone, 0.0)
    assert sentence in str(said.value)
