"""A run as a strip of time, and back from a time to the event."""

import json

import pytest

from app.events.event_field_types import Budget
from app.events.kinds import (
    ApprovalGiven,
    ApprovalRequested,
    RunPaused,
    RunQueued,
    RunResumed,
    RunStarted,
    TurnInterrupted,
)
from app.events.record import GENESIS, build_recorded_event
from app.machine.sampling.engine_outages_from_log import EngineOutage
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.pages.mission.timeline import FOLDED, Timeline, TimelineReader, draw_timeline
from tests.web.pages.mission_log import FIRST, SECOND, log
from tests.web.pages.turns import turn_started

BUDGET = Budget()
QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(FIRST,), mode="auto", budget=BUDGET, lineup="simulated", simulated=True
)
STARTED = RunStarted(worker="w", confinement="none", scanner="built-in", probes=())
ASKED = ApprovalRequested(approval="a", rule=FIRST, attempt=1, binds="", expires=9e9)


def given(count=1, of=1):
    return ApprovalGiven(approval="a", by="ann", reason="", given=count, of=of)


def write(*timed):
    """A log of (time, event)."""
    told, previous = [], GENESIS
    for seq, (at, event) in enumerate(timed, 1):
        told.append(build_recorded_event("r", seq, at, event, previous))
        previous = told[-1].hash
    return told


def fold(*timed):
    line = Timeline()
    for recorded in write(*timed):
        line.apply_event(recorded)
    return line


def rows(line, row):
    return [(one.kind, one.since, one.until) for one in line.stretches.values() if one.row == row]


@pytest.fixture
def store(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield EventStore(database)
    database.dispose()


def test_items_lie_where_they_were_worked_on_and_signs_where_it_happened(store):
    store.append(log())
    line = TimelineReader(store).read_timeline("r")
    shown = draw_timeline(line, log()[-1].at)
    assert (shown.began, shown.seconds, shown.over) == (1020.0, 300.0, True)
    items = [one for one in shown.stretches if one.stretch.row == "item"]
    assert [one.stretch.text for one in items] == [f"{FIRST}: passed", f"{SECOND}: escalated"]
    marks = [one for one in shown.stretches if one.stretch.row == "mark"]
    assert [(one.stretch.kind, one.stretch.words) for one in marks] == [
        ("alarm", "the nightly backup locked out"),
        ("undone", "undone: root does not log in over SSH"),
        ("escalated", "to a person: no blank passwords"),
    ]
    assert marks[0].left < marks[1].left < items[1].left
    assert [seconds for _, seconds in shown.ticks] == [60.0, 120.0, 180.0, 240.0, 300.0]


def test_the_axis_begins_when_work_begins_and_folds_a_long_wait():
    line = fold((1000.0, QUEUED), (1330.0, STARTED), (1360.0, ASKED), (1660.0, given()), (1680.0, RunPaused(by="ann")))
    assert line.to_axis_seconds(1000.0) == line.to_axis_seconds(1330.0) == 0.0
    assert line.to_axis_seconds(1360.0) == 30.0
    assert line.to_axis_seconds(1660.0) == 30.0 + FOLDED
    assert line.to_axis_seconds(1670.0) == 45.0
    assert line.to_axis_seconds(9999.0) == 55.0 + FOLDED, "the wait that lasts takes no more"
    assert rows(line, "wait") == [("person", 1360.0, 1660.0), ("paused", 1680.0, None)]


@pytest.mark.parametrize("place", [0.0, 12.5, 30.0, 32.5, 35.0, 36.0, 51.0, 52.0, 53.0, 60.0])
def test_a_place_is_the_place_of_its_time(place):
    line = fold(
        (1000.0, QUEUED), (1330.0, STARTED), (1360.0, ASKED), (1660.0, given()),
        (1676.0, RunPaused(by="ann")), (1678.0, RunResumed(by="ann")),
    )  # fmt: skip
    assert line.to_axis_seconds(line.to_time(place)) == pytest.approx(place)


def test_a_wait_lasts_until_all_people_have_approved_and_nobody_pauses():
    line = fold(
        (0.0, QUEUED), (1.0, STARTED), (10.0, ASKED), (20.0, given(1, 2)), (30.0, RunPaused(by="ann")),
        (40.0, given(2, 2)), (50.0, RunResumed(by="ann")),
    )  # fmt: skip
    assert rows(line, "wait") == [("person", 10.0, 50.0)]


def test_the_time_after_a_crash_is_a_gap_and_no_turn_goes_on_through_it(store):
    store.append(
        write(
            (0.0, QUEUED),
            (1.0, STARTED),
            (2.0, turn_started("t", "worker")),
            (70.0, RunResumed(by="w", after_crash=True)),
            (70.1, TurnInterrupted(turn="t", reason="crash")),
        )
    )
    line = TimelineReader(store).read_timeline("r")
    assert rows(line, "wait") == [("down", 2.0, 70.0)]
    assert rows(line, "turn") == [("worker", 2.0, 2.0)]


def test_a_turn_grows_until_it_ends_and_an_outage_lies_over_it():
    line = fold((0.0, QUEUED), (10.0, STARTED), (20.0, turn_started("t", "architect")))
    outage = EngineOutage("gemma-31b", "stalled", 30.0, None)
    turn, broken = draw_timeline(line, 50.0, [outage]).stretches
    assert (turn.stretch.kind, turn.end, turn.left, turn.width) == ("architect", None, 25.0, 75.0)
    assert (broken.stretch.row, broken.left, broken.width) == ("outage", 50.0, 50.0)


def test_what_changed_is_sent_once_for_each_batch_and_names_what_it_changes(store):
    told = write((0.0, QUEUED), (10.0, STARTED), (20.0, turn_started("t", "architect")))
    store.append(told)
    timelines = TimelineReader(store)

    def changes(batch):
        sent = timelines.encode_changes("r", batch).decode()
        return json.loads(sent.split("data: ")[1]) if sent else None

    began = changes(told[1:])
    assert began["began"] == 10.0
    assert [(one["id"], one["until"]) for one in began["stretches"]] == [("t3", None)]
    ended = build_recorded_event("r", 4, 25.0, TurnInterrupted(turn="t", reason=""), told[-1].hash)
    store.append([ended])
    assert [(one["id"], one["until"]) for one in changes([ended])["stretches"]] == [("t3", 25.0)]
    assert changes([build_recorded_event("r", 5, 26.0, log()[2].event, ended.hash)]) is None


def test_a_queued_run_has_no_axis_yet():
    shown = draw_timeline(fold((1000.0, QUEUED)), 1200.0)
    assert (shown.began, shown.stretches, shown.ticks) == (None, (), ())


def test_a_time_finds_the_newest_event_until_then(store):
    store.append(log())
    assert [store.get_seq_at("r", at) for at in (0.0, 1010.0, 1019.9, 1155.0, 9e9)] == [0, 1, 1, 15, 32]
    assert store.get_seq_at("none", 1.0) == 0
