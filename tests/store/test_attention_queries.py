"""What waits for a person, as the lines of the log say it."""

import pytest
from msgspec.structs import replace
from sqlmodel import Session

from app.events.kinds import (
    ActionApplying,
    ApprovalExpired,
    ApprovalGiven,
    ApprovalRefused,
    ApprovalRequested,
    AttemptFailed,
    ItemDeferred,
    ItemEscalated,
    ItemPassed,
)
from app.events.record import build_recorded_event
from app.store import attention_queries
from app.store.db import open_and_migrate_database
from app.store.event_batch_writer import to_columns
from app.store.models import EventRow, RunRow

RUN = {"mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": "", "queued_at": 0.0}
AT = {"rule": "A", "attempt": 1}
ASKED = ApprovalRequested(**AT, approval="a", binds="", expires=9.0)
GIVEN = ApprovalGiven(approval="a", by="ada", reason="")


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


def add(session, run, *events, state="running"):
    session.add(RunRow(id=run, host="h", state=state, **RUN))
    for seq, event in enumerate(events, 1):
        session.add(EventRow(**to_columns(build_recorded_event(run, seq, float(seq), event, "x"))))
    session.flush()


@pytest.mark.parametrize(
    ("events", "asks"),
    [
        ((), False),
        ((ASKED,), True),
        ((ASKED, GIVEN), True),
        ((ASKED, ApprovalRefused(approval="a", by="ada", reason="")), False),
        ((ASKED, ApprovalExpired(approval="a", reason="")), False),
        ((ASKED, AttemptFailed(**AT, cause="c", reason="")), False),
        ((ASKED, GIVEN, ActionApplying(**AT, journal="j")), False),
        ((AttemptFailed(**AT, cause="c", reason=""), ASKED), True),
    ],
)
def test_a_run_asks_until_its_newest_request_is_settled(session, events, asks):
    add(session, "r", *events)
    assert list(attention_queries.list_run_ids_awaiting_approval(session)) == ["r"] * asks


def test_only_runs_at_work_ask(session):
    for state in ("queued", "running", "paused", "finished", "failed"):
        add(session, state, ASKED, state=state)
    assert sorted(attention_queries.list_run_ids_awaiting_approval(session)) == ["paused", "running"]
    assert [row.id for row in attention_queries.list_paused_runs(session)] == ["paused"]


def test_of_each_run_the_newest_event_of_a_kind_counts(session):
    add(session, "r1", ASKED, replace(ASKED, approval="b"), GIVEN)
    add(session, "r2", ASKED)
    add(session, "r3", GIVEN)
    add(session, "r4", ASKED)
    found = attention_queries.read_newest_events(session, {"r1", "r2", "r3"}, "approval.requested")
    assert {run: (one.seq, one.event.approval) for run, one in found.items()} == {"r1": (2, "b"), "r2": (1, "a")}


def test_findings_that_were_left_come_oldest_first_from_any_number_of_runs(session):
    escalated, deferred = ItemEscalated(rule="A", reason="r"), ItemDeferred(rule="B", reason="r")
    add(session, "r1", escalated, ItemPassed(rule="C", attempts=1), deferred)
    add(session, "r2", deferred)
    many = ["r1", "r2", *(f"s{n}" for n in range(attention_queries.AT_ONCE))]
    found = list(attention_queries.read_escalation_and_deferral_events(session, many))
    assert [(one.run, one.seq) for one in found] == [("r1", 1), ("r1", 3), ("r2", 1)]
    assert list(attention_queries.read_escalation_and_deferral_events(session, [])) == []
