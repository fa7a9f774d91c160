"""When an engine did not work, read from the states that were logged."""

import pytest

from app.events.kinds import EngineSampled, EngineState
from app.events.record import MACHINE, build_recorded_event
from app.machine.sampling.engine_outages_from_log import (
    NOTICED_AFTER,
    EngineOutage,
    RecentOutages,
    read_outages_except_unended_of_departed_engines,
)
from app.store.db import open_and_migrate_database
from app.store.events import EventStore


@pytest.fixture
def store(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield EventStore(database)
    database.dispose()


def tell(store, *states):
    last = store.read_last_sample_seq()
    timed = [
        build_recorded_event(MACHINE, last + n, at, EngineState(engine=engine, state=state), "")
        for n, (at, engine, state) in enumerate(states, 1)
    ]
    store.append(timed)


def test_an_outage_begins_before_it_was_noticed_and_ends_when_the_engine_is_ready(store):
    tell(store, (100.0, "a", "ready"), (120.0, "a", "stalled"), (130.0, "a", "dead"), (150.0, "a", "loading"))
    assert read_outages_except_unended_of_departed_engines(store, 90.0, 200.0) == [
        EngineOutage("a", "stalled", 120.0 - NOTICED_AFTER, 150.0)
    ]
    assert read_outages_except_unended_of_departed_engines(store, 160.0, 200.0) == []


def test_what_began_before_the_time_asked_for_and_what_lasts_is_told(store):
    tell(store, (100.0, "a", "ready"), (100.0, "b", "ready"), (120.0, "b", "dead"))
    assert read_outages_except_unended_of_departed_engines(store, 500.0, 600.0) == [
        EngineOutage("b", "dead", 120.0, None)
    ]


def test_an_outage_of_hours_is_told_whenever_it_began(store):
    tell(store, (100.0, "a", "ready"), (120.0, "a", "stalled"), (150.0, "a", "dead"))
    broken_since = 120.0 - NOTICED_AFTER
    assert read_outages_except_unended_of_departed_engines(store, 9000.0, 9100.0) == [
        EngineOutage("a", "stalled", broken_since, None)
    ]
    tell(store, (9200.0, "a", "ready"))
    assert read_outages_except_unended_of_departed_engines(store, 9000.0, 9300.0) == [
        EngineOutage("a", "stalled", broken_since, 9200.0)
    ]
    assert read_outages_except_unended_of_departed_engines(store, 9250.0, 9300.0) == []


def test_an_engine_that_was_ready_for_hours_is_known_by_its_samples(store):
    tell(store, (100.0, "a", "ready"), (9000.0, "b", "absent"))
    sampled = EngineSampled(engine="a", running=0, waiting=0, kv_used=0, tok_s=None, prompt_tok_s=None, simulated=True)
    store.append([build_recorded_event(MACHINE, 3, 9990.0, sampled, "")])
    tell(store, (10_000.0, "a", "dead"), (10_000.0, "b", "dead"))
    assert read_outages_except_unended_of_departed_engines(store, 9500.0, 11_000.0) == [
        EngineOutage("a", "dead", 10_000.0, None)
    ]


def test_an_outage_is_known_when_the_samples_of_its_time_are_deleted(store):
    tell(store, (100.0, "a", "ready"), (120.0, "a", "dead"), (90_000.0, "a", "ready"), (200_000.0, "a", "dead"))
    store.delete_old_samples_not_kept_for_good(300_000.0)
    lasts = EngineOutage("a", "dead", 200_000.0, None)
    assert read_outages_except_unended_of_departed_engines(store, 60_000.0, 400_000.0) == [
        EngineOutage("a", "dead", 120.0, 90_000.0),
        lasts,
    ]


def test_an_engine_that_was_never_up_is_no_outage(store):
    tell(store, (100.0, "a", "absent"), (110.0, "a", "loading"), (140.0, "a", "ready"))
    assert read_outages_except_unended_of_departed_engines(store, 90.0, 200.0) == []


def test_an_outage_that_seems_to_last_is_left_out_for_an_engine_that_left_the_line_up(store):
    tell(store, (100.0, "a", "ready"), (100.0, "b", "ready"), (120.0, "a", "dead"), (130.0, "b", "dead"))
    tell(store, (140.0, "b", "ready"), (150.0, "b", "dead"))
    ended = EngineOutage("b", "dead", 130.0, 140.0)
    assert read_outages_except_unended_of_departed_engines(store, 90.0, 200.0, {"a"}) == [
        EngineOutage("a", "dead", 120.0, None),
        ended,
    ]


def test_recent_outages_know_an_outage_of_hours_at_each_moment(store):
    recent = RecentOutages(store, 120.0)
    tell(store, (100.0, "a", "ready"), (190.0, "a", "dead"))
    lasts, ended = EngineOutage("a", "dead", 190.0, None), EngineOutage("a", "dead", 190.0, 9000.0)
    for at in (200.0, 315.0, 8000.0, 8000.5):
        assert recent.read_outages(at) == [lasts], at
    tell(store, (9000.0, "a", "ready"))
    assert recent.read_outages(9000.0) == [ended]
    assert recent.read_outages(9130.0) == []
    assert recent.read_outages(9119.0) == [ended], "a replay goes back"


def test_recent_outages_are_read_once_a_second(store):
    recent = RecentOutages(store, 120.0)
    assert recent.read_outages(200.2) == []
    tell(store, (100.0, "a", "ready"), (190.0, "a", "dead"))
    assert recent.read_outages(200.9) == []
    assert recent.read_outages(201.0) == [EngineOutage("a", "dead", 190.0, None)]


def test_the_end_of_an_outage_is_read_at_once(store):
    recent = RecentOutages(store, 120.0)
    tell(store, (100.0, "a", "ready"), (190.0, "a", "dead"))
    assert recent.read_outages(200.2) == [EngineOutage("a", "dead", 190.0, None)]
    tell(store, (200.3, "a", "ready"))
    assert recent.read_outages(200.4) == [EngineOutage("a", "dead", 190.0, 200.3)]
