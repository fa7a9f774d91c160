import logging

from app.web.access.request_log import WITHIN, RepeatedLogFilter


def test_the_same_complaint_is_told_once_a_minute_with_its_count():
    now = 0.0
    hush = RepeatedLogFilter(clock=lambda: now)

    def told(said):
        record = logging.LogRecord("asyncio", logging.ERROR, "", 0, said, None, None)
        return record.msg if hush.filter(record) else None

    assert told("no more files\nsocket: 7") == "no more files\nsocket: 7"
    assert [told(f"no more files\nsocket: {number}") for number in range(2000)] == [None] * 2000
    assert told("another") == "another"
    now = WITHIN
    assert told("no more files") == "no more files (and 2000 more since it was last logged)"
