"""The chain of a rollout and the row that is kept in step with it."""

import pytest
from sqlmodel import Session, select

from app.errors import Rejected
from app.events import kinds
from app.events.event_field_types import Budget
from app.events.record import GENESIS
from app.store import rollouts
from app.store.db import open_and_migrate_database
from app.store.models import CommandRow, RunRow
from app.store.rollouts import RolloutHostRow, RolloutRow, open_rollout_journal
from tests.loop.playing import pack, request, rule

ORDER = kinds.RolloutOrdered(
    hosts=("a", "b"),
    words="all",
    skill="stig",
    rules=("A",),
    mode="auto",
    keep=False,
    budget=Budget(),
    lineup="l",
    simulated=True,
    pace=0.0,
    at_once=1,
    waves=(1,),
    harmed=0,
    escalated=0.5,
    note="n",
    by="ada",
)
PAUSED, RESUMED = kinds.RolloutPaused(by="ada", reason="lunch"), kinds.RolloutResumed(by="ada")
STOPPING, ENDED = kinds.RolloutStopRequested(by="ada", reason="enough"), kinds.RolloutEnded(state="stopped")


@pytest.fixture
def database(tmp_path):
    database = open_and_migrate_database(tmp_path / "t.sqlite")
    yield database
    database.dispose()


def begin(database, *events, name="x"):
    with Session(database) as session:
        begun = rollouts.write_first_event(session, name, ORDER)
        session.commit()
    if events:
        with open_rollout_journal(database, name) as journal:
            journal.append(*events)
    return begun


@pytest.mark.parametrize(
    ("events", "state", "reason", "ended"),
    [
        ((), "running", "", False),
        ((PAUSED,), "paused", "lunch", False),
        ((PAUSED, RESUMED), "running", "", False),
        ((STOPPING,), "stopping", "enough", False),
        ((STOPPING, ENDED), "stopped", "enough", True),
    ],
)
def test_the_row_says_where_the_rollout_stands(database, events, state, reason, ended):
    begin(database, *events)
    with Session(database) as session:
        row = rollouts.require_rollout(session, "x")
        assert (row.state, row.reason, row.ended_at is not None) == (state, reason, ended)
        assert (row.hosts, row.words, row.skill, row.by, row.note) == (2, "all", "stig", "ada", "n")
        assert [one.id for one in rollouts.list_unended_rollouts(session)] == ([] if ended else ["x"])
        with pytest.raises(Rejected, match="there is no rollout 'y'"):
            rollouts.require_rollout(session, "y")


def test_each_line_is_linked_to_the_one_before_it_whoever_opens_the_chain(database):
    (first,) = begin(database, PAUSED)
    with open_rollout_journal(database, "x") as journal:
        assert journal.seq == 2
        journal.append(RESUMED, STOPPING)
    with Session(database) as session:
        lines = list(rollouts.read_rollout_events(session, "x"))
        assert [(one.seq, one.event) for one in lines] == [(1, ORDER), (2, PAUSED), (3, RESUMED), (4, STOPPING)]
        assert lines[0].hash == first.hash
        assert list(rollouts.read_rollout_events(session, "x", after=2)) == lines[2:]
    with open_rollout_journal(database, "new") as journal:
        assert (journal.seq, journal._hash) == (0, GENESIS)


def test_a_host_is_begun_with_its_run_or_left_out(database):
    asked = request(pack([rule("A")]))
    begun, left = kinds.RolloutHostBegun(host="a", of="r1", wave=1), kinds.RolloutHostLeft(host="b", reason="busy")
    begin(database, begun, left)
    with open_rollout_journal(database, "x") as journal:
        journal.add_first_event_of_queued_run("r1", asked)
        journal.send_command(["r1", "r2"], "pause", "x", "lunch")
    with Session(database) as session:
        assert {row.host: row.run for row in session.exec(select(RolloutHostRow))} == {"a": "r1", "b": ""}
        assert list(rollouts.find_runs_by_id(session, ["r1", "r9"])) == ["r1"]
        assert session.get_one(RunRow, "r1").host == asked.host
        told = session.exec(select(CommandRow)).all()
        assert [(one.run, one.verb, one.by, one.reason) for one in told] == [
            ("r1", "pause", "x", "lunch"),
            ("r2", "pause", "x", "lunch"),
        ]
        at, runs = told[0].at, ["r1", "r2"]
        assert rollouts.find_commanded_runs(session, runs, "pause", "x", at) == {"r1", "r2"}
        for more in (([], "pause", "x", at), (runs, "stop", "x", at), (runs, "pause", "y", at)):
            assert rollouts.find_commanded_runs(session, *more) == set()
        assert rollouts.find_commanded_runs(session, runs, "pause", "x", at + 1) == set()


def test_a_fault_on_the_way_leaves_no_line(database):
    begin(database)

    def fail_on_the_way():
        with open_rollout_journal(database, "x") as journal:
            journal.append(PAUSED)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_on_the_way()
    with Session(database) as session:
        assert len(list(rollouts.read_rollout_events(session, "x"))) == 1
        assert session.get_one(RolloutRow, "x").state == "running"


def test_the_newest_rollouts_come_first_a_page_at_a_time(database):
    with Session(database) as session:
        same = {"words": "", "hosts": 1, "reason": "", "mode": "", "skill": "", "note": "", "by": "", "simulated": True}
        for at, state in enumerate(("finished", "running", "stopping", "paused"), 1):
            session.add(RolloutRow(id=state, state=state, asked_at=float(at), **same))
        assert [row.id for row in rollouts.list_newest_rollouts(session, 2)] == ["paused", "stopping"]
        assert [row.id for row in rollouts.list_newest_rollouts(session, 9, 3.0)] == ["running", "finished"]
        assert [row.id for row in rollouts.list_unended_rollouts(session)] == ["running", "stopping", "paused"]
