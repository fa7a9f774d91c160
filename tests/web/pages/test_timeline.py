"""A run as a strip of time, and back from a time to the event."""

from app.store.db import open_database
from app.store.events import EventStore
from app.web.pages.mission.timeline import build_timeline
from tests.web.pages.mission_log import FIRST, SECOND, log


def test_items_lie_where_they_were_worked_on_and_signs_where_it_happened():
    told = log()
    line = build_timeline(told, told[-1].at)
    assert (line.began, line.seconds) == (1010.0, 310.0)
    assert [(one.rule, one.outcome) for one in line.stretches] == [(FIRST, "passed"), (SECOND, "escalated")]
    assert [one.kind for one in line.signs] == ["alarm", "undone"]
    assert line.signs[0].left < line.signs[1].left < line.stretches[1].left
    assert [seconds for _, seconds in line.ticks] == [60.0, 120.0, 180.0, 240.0, 300.0]


def test_a_time_finds_the_newest_event_until_then(tmp_path):
    database = open_database(tmp_path / "t.sqlite")
    store = EventStore(database)
    store.append(log())
    assert [store.find_seq_at("r", at) for at in (0.0, 1010.0, 1019.9, 1155.0, 9e9)] == [0, 1, 1, 15, 32]
    assert store.find_seq_at("none", 1.0) == 0
    database.dispose()
