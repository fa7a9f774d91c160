"""What a node may append: to runs that it owns, from where their logs end. The rest of a batch is written."""

import threading

import pytest
from sqlalchemy import delete
from sqlmodel import Session

from app.events.kinds import RunPaused
from app.events.record import GENESIS, MACHINE, build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.event_batch_writer import append_batch_returning_lost_runs, read_newest_seq
from app.store.events import EventStore
from app.store.leases import LeaseRow, Leases
from app.store.models import EventRow, SampleRow
from tests.postgres import new_database


@pytest.fixture(scope="module")
def database(postgres_server):
    opened = open_and_migrate_database(new_database(postgres_server))
    yield opened
    opened.dispose()


@pytest.fixture
def mine(database):
    with Session(database) as session:
        for table in (LeaseRow, EventRow, SampleRow):
            session.execute(delete(table))
        for run, node in (("ours", "mine"), ("theirs", "other"), ("offered", "")):
            session.add(LeaseRow(name=run, host="h", node=node, epoch=1, asked_at=0.0))
        session.commit()
    return Leases(database, "mine")


def lines(run, *seqs):
    return [build_recorded_event(run, seq, float(seq), RunPaused(by="a"), GENESIS) for seq in seqs]


def append(database, leases, *batch):
    return append_batch_returning_lost_runs(database, leases, batch, threading.Event())


def read_seqs(database, run):
    return [seq for seq, *_ in EventStore(database).read_lines(run)]


def test_only_what_another_node_owns_is_left_out(database, mine):
    batch = [*lines("ours", 1, 2), *lines("theirs", 1), *lines("offered", 1), *lines("new", 1), *lines(MACHINE, 7)]
    assert append(database, mine, *batch) == {"theirs", "offered"}
    assert [read_seqs(database, run) for run in ("ours", "theirs", "offered", "new")] == [[1, 2], [], [], [1]]
    assert read_newest_seq(database, MACHINE) == 7
    assert append(database, mine, *lines(MACHINE, 9)) == frozenset(), "samples have no chain"
    assert (read_newest_seq(database, "ours"), read_newest_seq(database, "theirs")) == (2, 0)


@pytest.mark.parametrize(("next_one", "lost"), [(2, {"ours"}), (3, set()), (4, {"ours"})])
def test_a_log_that_does_not_end_where_the_batch_begins_is_anothers_by_now(database, mine, next_one, lost):
    assert append(database, mine, *lines("ours", 1, 2)) == frozenset()
    assert append(database, mine, *lines("ours", next_one, next_one + 1)) == lost
    assert read_seqs(database, "ours") == ([1, 2] if lost else [1, 2, 3, 4])


def test_without_leases_all_is_written(database, mine):
    assert append(database, None, *lines("theirs", 1)) == frozenset()
    assert read_seqs(database, "theirs") == [1]
