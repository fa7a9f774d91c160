"""What pages and metrics ask of the rows of runs."""

import pytest
from sqlmodel import Session

from app.errors import Rejected
from app.store import run_queries
from app.store.db import open_and_migrate_database
from app.store.models import EventRow, RunRow
from app.store.run_queries import list_hosts_newest_started_runs

RUN = {"state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": ""}


def test_of_each_host_the_newest_run_that_has_started_counts(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        for run, host, at, started in (
            ("a", "web1", 2, 2),
            ("b", "web1", 3, 3),
            ("c", "web1", 4, None),
            ("d", "db1", 2, 9),
        ):
            session.add(RunRow(id=run, host=host, queued_at=at, started_at=started, **RUN))
        assert sorted(row.id for row in list_hosts_newest_started_runs(session)) == ["b", "d"]
    database.dispose()


def test_of_runs_that_a_host_got_at_the_same_time_one_that_has_started_counts(session):
    for run, state, started in (("a", "failed", 3), ("b", "finished", 4), ("c", "queued", None)):
        session.add(RunRow(id=run, host="web1", queued_at=2, started_at=started, **RUN | {"state": state}))
    assert [row.id for row in list_hosts_newest_started_runs(session)] == ["b"]
    assert list_hosts_newest_started_runs(session, "failed") == []


@pytest.fixture
def session(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    with Session(database) as session:
        yield session
    database.dispose()


def add_runs(session, **states):
    """Runs by their ids, queued in this order, on the host of their first letter."""
    for at, (run, state) in enumerate(states.items()):
        session.add(RunRow(id=run, host=run[0], queued_at=float(at), **RUN | {"state": state, "whose": run[1:]}))


def test_what_is_not_there_is_refused_with_the_place_to_look(session):
    add_runs(session, h1="queued")
    assert run_queries.require_row(session, RunRow, "run", "h1").id == "h1"
    with pytest.raises(Rejected, match=r"there is no run 'x{40}': temper run list and GET /api/v1/runs show the runs"):
        run_queries.require_row(session, RunRow, "run", "x" * 41)


def test_runs_are_found_by_state_host_person_and_time(session):
    assert not run_queries.has_unended_runs(session)
    assert run_queries.find_newest_run(session) is None
    add_runs(session, a1="finished", a2="paused", b1="running", b2="failed", c1="stopped", a3="queued")
    assert run_queries.has_unended_runs(session)
    assert [row.id for row in run_queries.list_unended_runs(session)] == ["a2", "b1", "a3"]
    assert [row.id for row in run_queries.list_unended_runs(session, "a")] == ["a2", "a3"]
    assert run_queries.list_hosts_with_unended_runs(session) == {"a", "b"}
    assert run_queries.find_newest_run(session).id == "a3"
    assert run_queries.find_newest_run(session, "b").id == "b2"
    assert [row.id for row in run_queries.list_newest_runs(session, 2)] == ["a3", "c1"]
    assert [row.id for row in run_queries.list_newest_runs(session, 9, ["b1", "a1", "z"])] == ["b1", "a1"]
    assert run_queries.list_newest_runs(session, 9, []) == []
    assert [row.id for row in run_queries.list_runs_queued_between(session, 1.0, 4.0)] == ["a2", "b1", "b2"]
    assert [row.id for row in run_queries.list_runs_queued_between(session, 1.0, 4.0, "2")] == ["a2", "b2"]
    assert run_queries.list_runs_queued_between(session, 0.0, 9.0, "") == []
    assert run_queries.find_run(session, "a2").state == "paused"
    assert {row.id for row in run_queries.find_up_to_five_runs_by_id_prefix(session, "a")} == {"a1", "a2", "a3"}
    assert run_queries.find_up_to_five_runs_by_id_prefix(session, "%") == []


def test_the_newest_line_of_a_chain_is_its_own(session):
    assert run_queries.read_last_link(session, "a") is None
    for run, seq in (("a", 1), ("a", 2), ("b", 3)):
        session.add(EventRow(run=run, seq=seq, at=0.0, kind="k", line=b"", hash=f"{run}{seq}"))
    assert run_queries.read_last_link(session, "a") == (2, "a2")


def test_a_key_is_the_first_runs_for_a_day(session):
    kept = run_queries.KEEP_KEY_SECONDS
    assert run_queries.get_or_create_idempotency_row(session, "k", "d", "r1", 1.0).run == "r1"
    session.flush()
    again = run_queries.get_or_create_idempotency_row(session, "k", "e", "r2", 1.0 + kept)
    assert (again.run, again.digest, again.at) == ("r1", "d", 1.0)
    assert run_queries.find_idempotency_row(session, "k", 1.0 + kept) is again
    assert run_queries.find_idempotency_row(session, "k", 1.5 + kept) is None
    session.expire_all()
    late = run_queries.get_or_create_idempotency_row(session, "k", "e", "r2", 1.5 + kept)
    assert (late.run, late.digest, late.at) == ("r2", "e", 1.5 + kept)


def test_the_time_per_finding_is_that_of_the_last_runs_on_the_host_that_changed_at_once(session):
    def keep(name, **values):
        usual = {"host": "web", "mode": "auto", "state": "finished", "findings": 10, "started_at": 100.0}
        session.add(RunRow(id=name, **RUN | usual | values))

    assert run_queries.find_median_seconds_per_finding(session, "web") is None
    keep("long-ago", ended_at=9000.0, queued_at=1.0)
    for at, took in enumerate((10, 20, 30, 40, 50), 2):
        keep(f"r{at}", ended_at=100.0 + took, queued_at=float(at))
    keep("elsewhere", host="db", ended_at=7000.0, queued_at=20.0)
    keep("asked", mode="review", ended_at=8000.0, queued_at=21.0)
    keep("working", ended_at=None, queued_at=22.0)
    keep("clean", ended_at=160.0, findings=0, queued_at=23.0)
    session.flush()
    assert run_queries.find_median_seconds_per_finding(session, "web") == 3


def test_the_pace_of_a_host_counts_each_run_that_had_a_finding(session):
    for at, (findings, seconds) in enumerate(((0, 9.0), (1, 40.0), (2, 40.0))):
        times = {"queued_at": float(at), "started_at": 100.0, "ended_at": 100.0 + seconds}
        session.add(RunRow(id=f"h{at}", host="h", findings=findings, **times, **RUN))
    assert run_queries.find_median_seconds_per_finding(session, "h") == 30.0
    assert run_queries.find_median_seconds_per_finding(session, "other") is None
