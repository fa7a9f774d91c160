"""What keeps a batch from the disk for a while loses nothing, and doubles nothing."""

import sqlite3
import threading

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError
from sqlmodel import Session, select

from app.events.kinds import RunPaused
from app.events.record import GENESIS, MACHINE, build_recorded_event, check_chain_and_get_head
from app.store import event_batch_writer
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.models import EventRow, SampleRow


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(event_batch_writer, "BETWEEN", 0.01)
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield EventStore(database)
    database.dispose()


def lines(count):
    made, previous = [], GENESIS
    for seq in range(1, count + 1):
        made.append(build_recorded_event("r", seq, float(seq), RunPaused(by="a"), previous))
        previous = made[-1].hash
    return made


ROOM, NONE = 2**30, 1
"""Pages that the database may have; fewer than it has means no more."""


@pytest.fixture
def disk(store):
    room = [ROOM]

    def look(connection, *_):
        connection.execute(f"pragma max_page_count = {room[0]}")

    event.listen(store._engine, "checkout", look)
    return room


def test_a_disk_that_is_full_for_a_while_is_sat_out(store, disk):
    few = lines(3000)
    store.append(few[:10])
    disk[0] = NONE
    freed = threading.Timer(0.3, disk.__setitem__, (0, ROOM))
    freed.start()
    store.append(few[10:])
    freed.join()
    rows = store.read_lines("r")
    assert len(rows) == len(few)
    check_chain_and_get_head(rows)


def test_a_disk_that_stays_full_is_waited_for_until_the_process_ends(store, disk):
    disk[0] = NONE
    ending = threading.Timer(0.2, store.give_up)
    ending.start()
    with pytest.raises(OperationalError, match="full"):
        store.append(lines(3000))
    assert store.read_lines("r") == []


class NotedWaits(threading.Event):
    """Notes for how long it is waited for, and does not wait."""

    def __init__(self):
        super().__init__()
        self.waits = []

    def wait(self, timeout=None):
        self.waits.append(timeout)
        return self.is_set()


def test_a_database_that_failed_is_looked_at_after_a_pause(store):
    ends = NotedWaits()
    event_batch_writer._wait_for_database_and_list_unwritten(store._engine, lines(2), ends)
    assert ends.waits == [event_batch_writer.BETWEEN]


def test_what_arrived_before_the_fault_is_not_written_again(store):
    all_of_it = lines(6)
    store.append(all_of_it[:4])
    assert (
        event_batch_writer._wait_for_database_and_list_unwritten(store._engine, all_of_it, threading.Event())
        == all_of_it[4:]
    )


def test_a_lock_is_waited_for(store, tmp_path):
    locked = sqlite3.connect(tmp_path / "t.sqlite", isolation_level=None, check_same_thread=False)
    locked.execute("begin exclusive")
    freed = threading.Timer(0.3, locked.execute, ("rollback",))
    freed.start()
    store.append(lines(3))
    freed.join()
    locked.close()
    assert len(store.read_lines("r")) == 3


def test_samples_of_the_machine_are_no_lines_of_a_run(store):
    store.append([*lines(1), build_recorded_event(MACHINE, 1, 1.0, RunPaused(by="a"), "")])
    with Session(store._engine) as session:
        assert session.exec(select(EventRow.run)).all() == ["r"]
        assert session.exec(select(SampleRow.seq)).all() == [1]
