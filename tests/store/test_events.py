"""The runs and samples that the stored log knows: which come next, which are active, and what lay in a span of time."""

import msgspec
import pytest

from app.events.kinds import RunFinished, RunPaused, RunStarted
from app.events.record import MACHINE, build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore, RunSpan
from tests.loop.playing import pack, request, rule
from tests.machine.samples import gpu_sample
from tests.postgres import new_database

STARTED = RunStarted(worker="w", confinement="", scanner="s", probes=())
ENDED = RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree="")


class Log:
    """Runs by name, each with its host and the times at which it was queued, started and ended."""

    def __init__(self, database):
        self.store = EventStore(database)

    def add_run(self, run, host, *times):
        queued = msgspec.structs.replace(request(pack([rule("A")])), host=host)
        for seq, (event, at) in enumerate(zip((queued, STARTED, ENDED), times, strict=False), 1):
            self.store.append([build_recorded_event(run, seq, at, event, "x")])

    def add_samples(self, *times):
        last = self.store.read_last_sample_seq()
        self.store.append(
            [build_recorded_event(MACHINE, last + n, at, gpu_sample(), "") for n, at in enumerate(times, 1)]
        )


@pytest.fixture
def log(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    yield Log(database)
    database.dispose()


def fill(log):
    log.add_run("later", "b", 4.0)
    log.add_run("at work", "a", 1.0, 2.0)
    log.add_run("behind", "a", 3.0)
    log.add_run("first", "b", 2.0)
    log.add_run("over", "c", 1.0, 2.0, 3.0)


def test_each_host_comes_next_with_its_oldest_run_that_has_not_ended(log):
    fill(log)
    assert log.store.list_next_runs_to_offer() == [("at work", "a"), ("first", "b")]


def test_of_a_database_that_nodes_share_only_queued_runs_come_next(postgres_server):
    database = open_and_migrate_database(new_database(postgres_server))
    log = Log(database)
    fill(log)
    assert log.store.list_next_runs_to_offer() == [("first", "b")]
    database.dispose()


def test_active_runs_have_started_and_not_ended(log):
    fill(log)
    assert log.store.list_started_unended_runs() == ["at work"]


def test_spans_are_of_the_runs_that_were_at_work_between_two_times(log):
    log.add_run("late", "a", 1.0, 30.0)
    log.add_run("early", "a", 1.0, 5.0, 10.0)
    log.add_run("middle", "b", 1.0, 12.0, 20.0)
    log.add_run("queued", "c", 1.0)
    spans = [[one.run for one in log.store.list_run_spans(*times)] for times in ((10, 12), (11, 30), (21, 29), (0, 4))]
    assert spans == [["early", "middle"], ["middle", "late"], [], []]
    assert log.store.find_run_span("middle") == RunSpan("middle", "b", "l", 12.0, 20.0)
    assert log.store.find_run_span("queued") is None


def test_the_seq_at_a_time_is_that_of_the_newest_event_up_to_it(log):
    log.add_run("r", "a", 10.0, 20.0, 30.0)
    assert [log.store.get_seq_at("r", at) for at in (9, 10, 19, 20, 25, 30, 99)] == [0, 1, 1, 2, 2, 3, 3]
    assert [log.store.find_time_of_newest_event_up_to_seq("r", seq) for seq in (0, 1, 2, 9)] == [None, 10.0, 20.0, 30.0]
    assert log.store.get_seq_at("unknown", 99) == 0


def test_events_between_two_seqs_are_read_without_the_first_and_with_the_last(log):
    log.add_run("r", "a", 10.0, 20.0)
    log.store.append([build_recorded_event("r", seq, 30.0, RunPaused(by="a"), "x") for seq in (3, 4)])
    assert [one.seq for one in log.store.read_events("r", after=1, upto=3)] == [2, 3]
    assert [one.seq for one in log.store.read_events("r", since=20.0)] == [2, 3, 4]
    assert [one.seq for one in log.store.read_events_without_deltas("r", after=2)] == [3, 4]


def test_samples_are_read_by_seq_and_by_time(log):
    log.add_samples(10.0, 20.0, 30.0)
    assert log.store.read_last_sample_seq() == 3
    assert [one.seq for one in log.store.read_samples_after(1)] == [2, 3]
    assert [one.seq for one in log.store.read_samples_after(0, upto=2)] == [1, 2]
    assert [one.seq for one in log.store.read_samples_after(0, limit=1)] == [1]
    assert [one.seq for one in log.store.read_samples(10, 20)] == [1, 2]
    kind = gpu_sample().__struct_config__.tag
    assert [one.seq for one in log.store.read_samples(0, 99, [kind])] == [1, 2, 3]
    assert log.store.read_samples(0, 99, ["engine.sampled"]) == []
    assert [log.store.find_first_sample_time(since, [kind]) for since in (0, 10, 11, 31)] == [10, 10, 20, None]
    assert log.store.find_first_sample_time(0, ["engine.sampled"]) is None


def test_old_samples_are_deleted_except_the_newest_of_all(log):
    log.add_samples(10.0, 20.0, 30.0)
    log.store.delete_old_samples_not_kept_for_good(20.0)
    assert [one.seq for one in log.store.read_samples_after(0)] == [2, 3]
    log.store.delete_old_samples_not_kept_for_good(99.0)
    assert [one.seq for one in log.store.read_samples_after(0)] == [3]
