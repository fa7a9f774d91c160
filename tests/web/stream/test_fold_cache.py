"""Runs folded and kept: right at every moment, and no more of them than there is room for."""

import pytest

from app.events.event_field_types import Budget
from app.events.kinds import RunFinished, RunQueued, RunStarted, TurnDelta
from app.events.record import GENESIS, build_recorded_event
from app.loop.state import fold_events
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.web.stream.fold_cache import RunStateCache

QUEUED = RunQueued(
    host="fixture", skill="stig", rules=(), mode="auto", budget=Budget(), lineup="simulated", simulated=True
)
STARTED = RunStarted(worker="here", confinement="none", scanner="built-in", probes=())
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


class Read(EventStore):
    """Notes what is read out of it."""

    def read_events(self, run, after=0, **asked):
        self.after = after
        for recorded in super().read_events(run, after, **asked):
            self.read.append(recorded.seq)
            yield recorded


@pytest.fixture
def store(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    store = Read(database)
    store.read = []
    yield store
    database.dispose()


def write(store, run, *events):
    last = store.read_last_link(run) or (0, GENESIS)
    batch = []
    for seq, event in enumerate(events, last[0] + 1):
        batch.append(build_recorded_event(run, seq, 1000.0 + seq, event, batch[-1].hash if batch else last[1]))
    store.append(batch)


def test_only_what_came_since_is_read_again(store):
    folds = RunStateCache(store)
    write(store, "aaaa", QUEUED, STARTED)
    assert (folds.read_current("aaaa").status, store.read) == ("running", [1, 2])
    store.read.clear()
    assert (folds.read_current("aaaa").status, store.read) == ("running", [])
    write(store, "aaaa", ENDED)
    assert (folds.read_current("aaaa").status, store.read) == ("finished", [3])
    assert folds.read_current("aaaa") == fold_events(EventStore.read_events_without_deltas(store, "aaaa"))


def test_pieces_of_turns_are_not_read(store):
    write(store, "aaaa", QUEUED, TurnDelta(turn="t", role="worker", channel="answer", text="x", tokens=1), STARTED)
    RunStateCache(store).read_current("aaaa")
    assert store.read == [1, 3]


def test_the_runs_asked_for_longest_ago_make_room(store):
    folds = RunStateCache(store, most=2)
    for run in ("aaaa", "bbbb"):
        write(store, run, QUEUED)
        folds.read_current(run)
    folds.read_current("aaaa")
    write(store, "cccc", QUEUED)
    folds.read_current("cccc")
    store.read.clear()
    folds.read_current("aaaa")
    assert store.read == []
    folds.read_current("bbbb")
    assert store.read == [1]
