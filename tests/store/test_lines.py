"""Which lines of a log are read, and that the pieces of turns between them cost nothing."""

import pytest
from sqlalchemy import event

from app.events.kinds import KINDS, TOLD_KINDS, RunPaused, TurnDelta, TurnFinished
from app.events.record import GENESIS, MACHINE, build_recorded_event
from app.loop.state import fold_events
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.mission_loader import MissionLoader
from tests.machine.samples import gpu_sample

PLAN = ("plan", "item.started")
PIECES = ("turn.delta",)


def tag(one):
    return one.event.__struct_config__.tag


@pytest.fixture
def store(played):
    database = open_and_migrate_database(played[0] / "temper.sqlite")
    yield EventStore(database)
    database.dispose()


@pytest.mark.parametrize("kinds", [KINDS, TOLD_KINDS, PLAN, PIECES])
@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"after": 40, "upto": 200},
        {"limit": 7},
        {"after": 40, "limit": 7},
        {"since": 0.5},
        {"since": 0.5, "limit": 3},
    ],
)
def test_lines_of_some_kinds_are_the_log_without_the_others(store, played, log, kinds, asked):
    since = log[0].at + asked["since"] if "since" in asked else 0.0
    found = store.read_lines(played[1], kinds=kinds, **{**asked, "since": since})
    after, upto = asked.get("after", 0), asked.get("upto", len(log))
    fitting = [one for one in log[after:upto] if tag(one) in kinds and one.at >= since][: asked.get("limit")]
    assert found == [(one.seq, one.line, one.hash) for one in fitting]


@pytest.mark.parametrize("kinds", [KINDS, TOLD_KINDS, PLAN, PIECES])
def test_the_newest_of_some_kinds_come_newest_first(store, played, log, kinds):
    fitting = [one for one in log[:200] if tag(one) in kinds]
    assert store.read_events_of_kinds_newest_first(played[1], 200, kinds, 9) == fitting[::-1][:9]


@pytest.mark.parametrize("upto", range(1, 260, 7))
def test_a_state_is_the_same_without_the_pieces_of_turns_wherever_the_log_was_cut(tmp_path, log, upto):
    database = open_and_migrate_database(tmp_path / "cut.sqlite")
    cut = EventStore(database)
    cut.append(log[:upto])
    assert fold_events(cut.read_events_for_fold(log[0].run)) == fold_events(log[:upto])
    database.dispose()


def steps(tmp_path, log, pieces):
    """What SQLite does for a page of this run, its first turn told in so many pieces more."""
    database = open_and_migrate_database(tmp_path / f"{pieces}.sqlite")
    long, before = [], GENESIS
    for one in (one for one in log if not isinstance(one.event, TurnDelta)):
        told = [one.event]
        if isinstance(one.event, TurnFinished) and pieces:
            delta = TurnDelta(turn=one.event.turn, role=one.event.role, channel="thought", text="so", tokens=1)
            told, pieces = [delta] * pieces + told, 0
        for this in told:
            long.append(build_recorded_event(one.run, len(long) + 1, one.at, this, before))
            before = long[-1].hash
    store, spent = EventStore(database), 0
    store.append(long)

    def count():
        nonlocal spent
        spent += 1

    database.dispose()
    event.listen(database, "connect", lambda connection, _: connection.set_progress_handler(count, 10))
    MissionLoader(store).load_mission(one.run)
    database.dispose()
    return spent


def test_a_page_costs_the_database_the_same_however_long_its_turns_were(tmp_path, log):
    few, many = steps(tmp_path, log, 10), steps(tmp_path, log, 10_000)
    assert few > 50
    assert many < 1.1 * few


def test_of_the_events_of_one_time_the_newest_is_found_and_before_all_there_is_none(store, played, log):
    assert [store.get_seq_at(played[1], one.at) for one in log] == [
        max(other.seq for other in log if other.at <= one.at) for one in log
    ]
    assert store.get_seq_at(played[1], log[0].at - 1) == 0
    assert store.get_seq_at(played[1], log[-1].at + 1) == len(log)


@pytest.mark.parametrize(
    ("since", "until", "kinds", "found"),
    [
        (2.0, 3.0, (), [2, 3]),
        (1.0, 4.0, ("gpu.sample",), [1, 2, 4]),
        (3.0, 3.0, ("gpu.sample",), []),
        (5.0, 9.0, (), []),
    ],
)
def test_samples_are_read_from_the_first_to_the_last_second_that_is_asked_for(tmp_path, since, until, kinds, found):
    database = open_and_migrate_database(tmp_path / "samples.sqlite")
    told = [gpu_sample(), gpu_sample(), RunPaused(by="a"), gpu_sample()]
    EventStore(database).append([build_recorded_event(MACHINE, n, float(n), one, "") for n, one in enumerate(told, 1)])
    assert [one.seq for one in EventStore(database).read_samples(since, until, kinds)] == found
    database.dispose()
