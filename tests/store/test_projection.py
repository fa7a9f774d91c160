"""The row of a run follows its log."""

import msgspec
import pytest
from sqlmodel import Session

from app.events.event_field_types import Lesson
from app.events.kinds import (
    AttemptStarted,
    FixProven,
    ItemEscalated,
    ItemPassed,
    LessonLearnt,
    RunFailed,
    RunPaused,
    RunPreparing,
    RunResumed,
    RunStarted,
    RunWaitEnded,
    RunWaiting,
)
from app.events.record import build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import LessonRow, RunRow
from app.store.proven_fixes import FixRow
from tests.loop.playing import FIX, SOUND, pack, request, rule

BEGUN = [request(pack([rule("V-1")])), RunStarted(worker="w", confinement="", scanner="s", probes=SOUND)]


@pytest.fixture
def database(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield database
    database.dispose()


def state_after(database, *events):
    EventStore(database).append(
        [build_recorded_event("r", seq, 1.0 * seq, event, "x") for seq, event in enumerate(events, 1)]
    )
    with Session(database) as session:
        return session.get_one(RunRow, "r").state


@pytest.mark.parametrize(
    ("resumed", "state"), [(RunResumed(by="worker 1", after_crash=True), "paused"), (RunResumed(by="ada"), "running")]
)
def test_a_paused_run_stays_paused_until_a_person_resumes_it(database, resumed, state):
    assert state_after(database, *BEGUN, RunPaused(by="ada"), resumed) == state


@pytest.mark.parametrize(("whose", "owner"), [("ada", "ada"), ("", "schedule s1")])
def test_a_run_is_on_the_account_of_whoever_is_behind_its_order(database, whose, owner):
    queued = msgspec.structs.replace(BEGUN[0], by="schedule s1", whose=whose)
    EventStore(database).append([build_recorded_event("r", 1, 1.0, queued, "x")])
    with Session(database) as session:
        assert session.get_one(RunRow, "r").whose == owner


def test_a_run_that_reads_its_host_is_no_longer_queued(database):
    assert state_after(database, BEGUN[0]) == "queued"
    EventStore(database).append([build_recorded_event("r", 2, 2.0, RunPreparing(worker="w"), "x")])
    with Session(database) as session:
        row = session.get_one(RunRow, "r")
        assert (row.state, row.started_at) == ("running", None)


def test_a_lesson_counts_the_attempts_that_were_told_it_and_those_that_passed(database):
    lesson, at = Lesson(id="l", rule="V-1", mechanism="", environment="", advice=""), {"rule": "V-1", "attempt": 1}
    told = [AttemptStarted(**at, lessons=(lesson,))] * 3
    state_after(
        database, *BEGUN, LessonLearnt(**at, lesson=lesson), *told, ItemPassed(rule="V-1", attempts=4, lessons=("l",))
    )
    with Session(database) as session:
        row = session.get_one(LessonRow, "l")
        assert (row.uses, row.hits) == (3, 1)


@pytest.mark.parametrize("end", [RunWaitEnded(seconds=2.0), RunFailed(reason="no")])
def test_a_run_waits_for_a_fault_until_it_is_over_or_the_run_ends(database, end):
    waiting = RunWaiting(cause="storage", reason="Disk full.")
    for seq, events in ((2, [*BEGUN, waiting]), (3, [end])):
        first = 1 if seq == 2 else 4
        EventStore(database).append(
            [build_recorded_event("r", n, 1.0, one, "x") for n, one in enumerate(events, first)]
        )
        with Session(database) as session:
            assert session.get_one(RunRow, "r").waiting_for == ("Disk full." if seq == 2 else "")


def test_an_item_that_did_not_survive_the_reboot_counts_as_escalated_alone(database):
    state_after(
        database, *BEGUN, ItemPassed(rule="V-1", attempts=1), ItemEscalated(rule="V-1", reason="x", reopened=True)
    )
    with Session(database) as session:
        row = session.get_one(RunRow, "r")
        assert (row.passed, row.escalated) == (0, 1)


def test_a_fix_that_was_proven_is_stored_with_its_run(database):
    fix = msgspec.structs.replace(FIX, id="r.V-1.1", rule="V-1", run="r")
    state_after(database, *BEGUN, FixProven(rule="V-1", attempt=1, fix=fix))
    with Session(database) as session:
        assert session.get_one(FixRow, fix.id).rule == "V-1"
