"""When a schedule's work may begin, when it has to stop, and which windows are refused."""

import pytest

from app.background.schedules.schedule_start_grace_and_time_limit import (
    LONGEST_WINDOW,
    START_GRACE,
    is_window_over,
    is_within_window_or_start_grace,
    validate_window_to_seconds,
)
from app.errors import Rejected


@pytest.mark.parametrize(
    ("late", "window", "soon"),
    [
        (START_GRACE, None, True),
        (START_GRACE + 1, None, False),
        (START_GRACE + 1, 600.0, True),
        (601.0, 600.0, False),
        (START_GRACE, 1.0, True),
    ],
)
def test_work_begins_within_its_window_and_never_later_than_a_minute_without_one(late, window, soon):
    assert is_within_window_or_start_grace(1000.0, 1000.0 + late, window) is soon


@pytest.mark.parametrize(
    ("fired_at", "now", "window", "over"),
    [(100.0, 159.0, 60.0, False), (100.0, 160.0, 60.0, True), (100.0, 1e9, None, False), (None, 1e9, 60.0, False)],
)
def test_work_stops_at_the_end_of_its_window_if_it_began_and_has_one(fired_at, now, window, over):
    assert is_window_over(fired_at, now, window) is over


def test_a_window_is_kept_in_seconds_and_auto_needs_one():
    assert validate_window_to_seconds(2.0, "auto") == 120.0
    assert validate_window_to_seconds(None, "scan") is None
    for minutes, mode in ((None, "auto"), (0.0, "scan"), (-1.0, "scan"), (LONGEST_WINDOW + 1, "scan")):
        with pytest.raises(Rejected) as wrong:
            validate_window_to_seconds(minutes, mode)
        assert wrong.value.field == "window_minutes"
