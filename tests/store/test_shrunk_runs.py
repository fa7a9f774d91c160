"""Which runs are due to be shrunk, and which are not swept yet."""

import pytest
from sqlmodel import Session, select

from app.events.kinds import TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.events.record import build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.event_batch_writer import to_columns
from app.store.models import EventRow, EvidenceRow, RunRow
from app.store.shrunk_runs import (
    delete_finished_turn_deltas,
    list_runs_to_shrink,
    list_shrunk_runs_with_deltas,
    mark_shrunk_and_store_pack,
    read_evidence_pack,
)

RUN = {"host": "h", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": "", "queued_at": 1.0}


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    with Session(database) as opened:
        yield opened
    database.dispose()


def add_run(session, name, ended_at, state="finished", **more):
    session.add(RunRow(id=name, state=state, ended_at=ended_at, **RUN, **more))
    session.flush()


def test_runs_that_ended_before_a_time_are_due_oldest_first(session):
    for name, ended_at in (("young", 9.0), ("at the time", 10.0), ("old", 8.0), ("at work", None)):
        add_run(session, name, ended_at)
    add_run(session, "shrunk", 7.0, shrunk_at=7.5)
    add_run(session, "resumed", 7.0, state="running")
    assert [row.id for row in list_runs_to_shrink(session, 10.0)] == ["old", "young"]


def test_a_run_is_shrunk_once_and_only_after_its_end(session):
    add_run(session, "over", 8.0)
    add_run(session, "at work", None, state="running")
    assert mark_shrunk_and_store_pack(session, "over", b"pack", 20.0)
    assert not mark_shrunk_and_store_pack(session, "over", b"another", 30.0)
    assert not mark_shrunk_and_store_pack(session, "at work", b"pack", 20.0)
    assert session.get_one(RunRow, "over").shrunk_at == 20.0
    assert [read_evidence_pack(session, name) for name in ("over", "at work")] == [b"pack", None]


def test_a_shrunk_run_is_unswept_until_its_pieces_are_deleted(session):
    for name in ("one", "other"):
        add_run(session, name, 8.0)
        mark_shrunk_and_store_pack(session, name, b"pack", 20.0)
    session.get_one(EvidenceRow, "one").swept = True
    assert list_shrunk_runs_with_deltas(session) == ["other"]


TURN = {"role": "worker"}


def began(turn):
    return TurnStarted(
        **TURN,
        turn=turn,
        rule="A",
        attempt=1,
        purpose="act",
        engine="e",
        model="m",
        replica=0,
        max_tokens=1,
        prompt=("", ""),
    )


def said(turn):
    return TurnDelta(**TURN, turn=turn, channel="answer", text="x", tokens=1)


def finished(turn):
    return TurnFinished(**TURN, turn=turn, purpose="act", outcome="answered", detail="", thought="", answer="x")


def test_only_the_pieces_of_turns_that_finished_are_deleted(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    cut = TurnInterrupted(turn="1", reason="crash")
    told = (began("1"), said("1"), cut, finished("another"), began("2"), said("2"), said("2"), finished("2"), said("3"))
    with Session(database) as session:
        for run in ("r", "s"):
            add_run(session, run, 8.0)
            mark_shrunk_and_store_pack(session, run, b"pack", 20.0)
            lines = [build_recorded_event(run, seq, 1.0, event, "x") for seq, event in enumerate(told, 1)]
            session.add_all(EventRow(**to_columns(line)) for line in lines)
        session.commit()
    assert delete_finished_turn_deltas(database, "r") == 2
    with Session(database) as session:
        left = session.exec(select(EventRow.seq).where(EventRow.run == "r").order_by(EventRow.seq)).all()
        assert left == [1, 2, 3, 4, 5, 8, 9]
        assert list_shrunk_runs_with_deltas(session) == ["s"]
    assert delete_finished_turn_deltas(database, "r") == 0
    database.dispose()
