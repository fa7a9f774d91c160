"""Who lives, who leads and to whom a run is offered, as the rows of nodes, leases and runs say it."""

import pytest
from sqlmodel import Session

from app.errors import LeaseLost
from app.events.record import MACHINE
from app.store import nodes
from app.store.database_clock import TOO_FAR_OFF, database_time
from app.store.db import open_and_migrate_database
from app.store.leases import LeaseRow
from app.store.models import RunRow, ScheduleRow
from app.store.nodes import ASK_AGAIN_AFTER, DEAD_AFTER, FORGOTTEN_AFTER, GIVEN_UP_FOR, TRIED_FOR, NodeRow, Orphan
from app.store.rollouts import RolloutRow
from app.store.webhooks import WebhookRow
from tests.postgres import new_database

RUN = {"state": "queued", "mode": "auto", "skill": "stig", "lineup": "l", "simulated": True, "note": ""}
ROLLOUT = {"words": "all", "hosts": 1, "state": "running", "reason": "", "mode": "auto", "skill": "stig", "note": ""}


@pytest.fixture(scope="module")
def database(postgres_server):
    opened = open_and_migrate_database(new_database(postgres_server))
    yield opened
    opened.dispose()


@pytest.fixture
def session(database):
    """Nothing is committed, so each test has the database for itself."""
    with Session(database) as session:
        yield session


@pytest.fixture
def at(session):
    return database_time(session)


def add_node(session, name, at, silent=0.0, pid=1, **more):
    fields = {"kind": "worker", "machine": "m", "began": 1.0, "started_at": at - 100, **more}
    session.add(NodeRow(name=name, pid=pid, seen_at=at - silent, **fields))
    session.flush()


def add_run(session, name, at, host="h", **more):
    session.add(RunRow(id=name, host=host, **{**RUN, "queued_at": at - 60, **more}))
    session.flush()


def add_lease(session, name, node="", epoch=1, asked_at=0.0, host="h", **more):
    session.add(LeaseRow(name=name, host=host, node=node, epoch=epoch, asked_at=asked_at, **more))
    session.flush()


def offer(session, at, me="one", in_hand=(), queued=nodes.report_none_queued):
    return nodes.mark_orphaned_runs_as_offered_and_list_them(
        session, me, in_hand, nodes.list_unended_nodes(session), at, queued
    )


def test_the_oldest_node_comes_first_and_one_that_ended_not_at_all(session, at):
    add_node(session, "young", at, started_at=at - 1)
    add_node(session, "b", at, started_at=at - 9)
    add_node(session, "a", at, started_at=at - 9)
    add_node(session, "over", at, ended_at=at)
    assert [node.name for node in nodes.list_unended_nodes(session)] == ["a", "b", "young"]


def test_a_node_that_is_silent_or_only_runs_one_run_takes_none_over(session, at):
    add_node(session, "alive", at)
    add_node(session, "late", at, silent=DEAD_AFTER - 2)
    add_node(session, "silent", at, silent=DEAD_AFTER + 1)
    add_node(session, "single", at, kind="run")
    add_node(session, "over", at, ended_at=at)
    assert [node.name for node in nodes.list_responsive_nodes(session)] == ["alive", "late"]


@pytest.mark.parametrize(("runs", "workers", "each"), [(0, 1, None), (5, 1, None), (0, 2, 1), (4, 2, 3), (5, 2, 4)])
def test_runs_are_divided_among_the_nodes_with_one_to_spare(session, at, runs, workers, each):
    for number in range(workers):
        add_node(session, f"n{number}", at)
    for number in range(runs):
        add_run(session, f"r{number}", at, state=("queued", "running", "paused")[number % 3])
    add_run(session, "over", at, state="finished")
    assert nodes.compute_max_runs_per_node(session) == each
    assert nodes.send_heartbeat_and_read_overview(session, "n0").computed_max_runs_per_node == each


def test_a_status_says_all_of_a_node(session, at):
    add_node(session, "one", at, silent=3.0, kind="serve", clock_off=-TOO_FAR_OFF - 0.1)
    add_node(session, "other", at, silent=-9.0, clock_off=TOO_FAR_OFF)
    add_lease(session, MACHINE, "one")
    for name, state in (("b", "running"), ("a", "paused"), ("c", "finished")):
        add_run(session, name, at, state=state)
        add_lease(session, name, "one")
    one, other = nodes.list_unended_node_statuses(session)
    assert (one.name, one.kind, one.started_at, one.leads, one.runs) == ("one", "serve", at - 100, True, ("a", "b"))
    assert one.silent_seconds == pytest.approx(3.0, abs=2.0)
    assert (one.clock_off, one.needs_its_clock_set) == (-TOO_FAR_OFF - 0.1, True)
    assert (other.silent_seconds, other.leads, other.runs, other.needs_its_clock_set) == (0.0, False, (), False)


def test_a_node_that_fell_silent_is_named_for_a_while_unless_it_came_back(session, at):
    add_node(session, "lost", at, silent=DEAD_AFTER + 60, ended_at=at - 60, clock_off=2.0)
    add_node(session, "earlier", at, silent=DEAD_AFTER + 90, pid=2, ended_at=at - 80)
    add_node(session, "stopped", at, silent=61, pid=3, ended_at=at - 60)
    add_node(session, "long ago", at, silent=GIVEN_UP_FOR + 100, pid=4, ended_at=at - GIVEN_UP_FOR - 1)
    add_node(session, "was here", at, silent=DEAD_AFTER + 60, pid=5, ended_at=at - 60)
    add_node(session, "is back", at, pid=5)
    given_up = nodes.list_given_up_nodes(session)
    assert [node.name for node in given_up] == ["earlier", "lost"]
    assert (given_up[1].leads, given_up[1].runs, given_up[1].clock_off) == (False, (), 2.0)


def test_a_heartbeat_sees_everything(session, at):
    add_node(session, "one", at, silent=60)
    add_node(session, "other", at, silent=60)
    add_lease(session, MACHINE, "other", epoch=4)
    add_run(session, "r", at)
    for name, ended in (("a", None), ("b", None), ("c", at)):
        session.add(RolloutRow(id=name, simulated=True, by="ada", asked_at=at, ended_at=ended, **ROLLOUT))
    schedule = {"host": "h", "skill": "s", "rules": "", "mode": "auto", "cron": "", "zone": "", "by": "", "made_at": at}
    session.add(ScheduleRow(id="s", next_at=at, **schedule))
    for name in "xyz":
        session.add(WebhookRow(id=name, url="u", secret="s", kinds="", created_at=at))
    seen = nodes.send_heartbeat_and_read_overview(session, "one", 0.5)
    assert (seen.leader, seen.turn, seen.unended, seen.kept) == ("other", 4, 1, (2, 1, 3))
    assert [node.name for node in seen.living] == ["one", "other"]
    assert [node.name for node in nodes.list_responsive_nodes(session)] == ["one"]
    session.expire_all()
    assert session.get_one(NodeRow, "one").clock_off == 0.5
    assert session.get_one(NodeRow, "one").seen_at == pytest.approx(seen.at)
    assert seen.at >= at


def test_a_node_without_leader_or_runs_sees_none_and_one_that_was_given_up_sees_nothing(session, at):
    add_node(session, "one", at)
    seen = nodes.send_heartbeat_and_read_overview(session, "one")
    assert (seen.leader, seen.turn, seen.unended, seen.kept) == ("", 0, 0, (0, 0, 0))
    nodes.mark_nodes_ended(session, [])
    assert nodes.send_heartbeat_and_read_overview(session, "one")
    nodes.mark_nodes_ended(session, ["one"])
    assert nodes.send_heartbeat_and_read_overview(session, "one") is None
    add_node(session, "other", at)
    assert nodes.send_heartbeat_and_read_overview(session, "one") is None


def test_the_dead_and_those_that_run_a_single_run_are_no_workers(session, at):
    for name, more in {"a": {}, "b": {"silent": DEAD_AFTER - 2}, "c": {"silent": 60.0}, "d": {"kind": "run"}}.items():
        add_node(session, name, at, **more)
    assert [node.name for node in nodes.send_heartbeat_and_read_overview(session, "a").responsive_nodes] == ["a", "b"]


def test_nodes_and_leases_are_forgotten_long_after_their_end(session, at):
    for name, ended in (("old", at - FORGOTTEN_AFTER - 9), ("lately", at - FORGOTTEN_AFTER + 99), ("now", None)):
        add_node(session, name, at, ended_at=ended)
        add_run(session, name, at, ended_at=ended)
        add_lease(session, name)
    nodes.delete_long_ended_nodes_and_run_leases(session)
    session.expire_all()
    for table in (NodeRow, LeaseRow):
        assert [session.get(table, name) is None for name in ("old", "lately", "now")] == [True, False, False]


def test_a_run_that_nobody_owns_is_offered_once_and_the_next_of_its_host_waits(session, at):
    add_node(session, "one", at)
    add_run(session, "second", at, queued_at=at - 5)
    add_run(session, "first", at, queued_at=at - 9)
    add_run(session, "elsewhere", at, host="g", queued_at=at - 7)
    add_run(session, "new", at, host="i", queued_at=at - 0.5)
    add_run(session, "over", at, host="j", state="finished")
    assert offer(session, at) == [Orphan("first", "h", 1), Orphan("elsewhere", "g", 1)]
    lease = session.get_one(LeaseRow, "first")
    assert (lease.host, lease.node, lease.epoch, lease.asked_at) == ("h", "", 1, at)
    assert offer(session, at + 0.2) == []


@pytest.mark.parametrize(
    ("lease", "epoch"),
    [
        ({"node": "other"}, None),
        ({"node": "dead"}, 4),
        ({"node": "one"}, 4),
        ({"node": "dead", "place": "here"}, 4),
        ({"node": "dead", "place": "elsewhere"}, None),
        ({"node": "", "asked_at": -ASK_AGAIN_AFTER}, 4),
        ({"node": "", "asked_at": 0.5 - ASK_AGAIN_AFTER}, None),
    ],
)
def test_a_run_is_offered_again_where_nobody_works_on_it(session, at, lease, epoch):
    add_node(session, "one", at, place="here")
    add_node(session, "other", at)
    add_run(session, "r", at)
    add_lease(session, "r", epoch=3, **{**lease, "asked_at": at + lease.get("asked_at", 0.0)})
    assert offer(session, at) == ([] if epoch is None else [Orphan("r", "h", epoch)])
    if epoch:
        session.expire_all()
        row = session.get_one(LeaseRow, "r")
        assert (row.node, row.epoch, row.asked_at) == ("", epoch, pytest.approx(at))


def test_a_run_in_hand_or_in_the_queue_or_behind_another_on_its_host_is_left_alone(session, at):
    add_node(session, "one", at)
    for name, host in (("mine", "h"), ("behind", "h"), ("queued", "g"), ("free", "f")):
        add_run(session, name, at, host=host)
    add_lease(session, "mine", "one")
    for name, host in (("behind", "h"), ("queued", "g"), ("free", "f")):
        add_lease(session, name, epoch=2, asked_at=at - ASK_AGAIN_AFTER - 1, host=host)
    asked = []

    def find_queued(offered):
        asked.extend(offered)
        return ["queued"]

    assert offer(session, at, in_hand=["mine"], queued=find_queued) == [Orphan("free", "f", 3)]
    assert sorted(asked) == [("behind", 2), ("free", 2), ("queued", 2)]


def test_a_lease_that_changed_meanwhile_is_not_offered_again(session, at):
    add_lease(session, "r", "dead", epoch=3)
    for was in ({"node": "other", "epoch": 3}, {"node": "dead", "epoch": 2}):
        assert not nodes._free_lease_if_unchanged(session, LeaseRow(name="r", host="h", asked_at=0.0, **was), at)
    add_lease(session, "s")
    assert not nodes._insert_first_offer(session, "s", "h", at)


def test_a_host_that_a_node_cannot_reach_is_left_to_a_node_that_has_not_tried(session, at):
    add_node(session, "one", at)
    add_lease(session, "r", "one", epoch=2)
    for me, run in (("other", "r"), ("one", "unknown")):
        with pytest.raises(LeaseLost):
            nodes.hand_over_unreachable_run(session, me, run)
    assert nodes.hand_over_unreachable_run(session, "one", "r") is None
    assert session.get_one(LeaseRow, "r").node == "one"
    add_node(session, "other", at)
    assert nodes.hand_over_unreachable_run(session, "one", "r") == Orphan("r", "h", 3)
    lease = session.get_one(LeaseRow, "r")
    assert (lease.node, lease.epoch) == ("", 3)
    assert lease.asked_at == pytest.approx(at, abs=30)
    assert nodes.reoffer_run_tried_here(session, "other", "r", 3) is None, "it has not tried"
    assert nodes.reoffer_run_tried_here(session, "one", "r", 2) is None, "of an earlier offer"
    assert nodes.reoffer_run_tried_here(session, "one", "unknown", 3) is None
    assert nodes.reoffer_run_tried_here(session, "one", "r", 3) == Orphan("r", "h", 4)
    assert session.get_one(LeaseRow, "r").epoch == 4
    lease.node = "other"
    assert nodes.reoffer_run_tried_here(session, "one", "r", 4) is None, "it has taken the run"
    lease.node = ""
    lease.unreached += f" other@{at:.3f}"
    assert nodes.reoffer_run_tried_here(session, "one", "r", 4) is None, "each has tried"


def test_how_long_no_other_node_can_take_a_run(session, at):
    add_node(session, "one", at)
    add_node(session, "other", at)
    assert nodes.get_seconds_until_another_node_may_retry_unreachable_host(session, "one", "r") == 0.0
    add_lease(session, "r", "one")
    assert nodes.get_seconds_until_another_node_may_retry_unreachable_host(session, "one", "r") == 0.0
    lease = session.get_one(LeaseRow, "r")
    for tried, seconds in (
        (f"one@{at:.3f}", 0.0),
        (f"other@{at - 40:.3f}", TRIED_FOR - 40),
        (f"other@{at - TRIED_FOR - 1:.3f}", 0.0),
    ):
        lease.unreached = tried
        session.flush()
        assert nodes.get_seconds_until_another_node_may_retry_unreachable_host(session, "one", "r") == pytest.approx(
            seconds, abs=20 if seconds else 0
        )


def test_runs_whose_node_died_as_they_ended_are_listed_newest_first_and_released(session, at):
    add_node(session, "one", at)
    for number, (name, node) in enumerate({"a": "dead", "b": "dead", "c": "one", "d": "", "e": "dead"}.items()):
        add_run(session, name, at, ended_at=None if name == "e" else at + number)
        add_lease(session, name, node, epoch=number)
    assert nodes.list_ended_runs_of_dead_nodes(session) == [Orphan("b", "h", 1), Orphan("a", "h", 0)]
    nodes.release_runs(session, ["a"])
    session.expire_all()
    assert [session.get_one(LeaseRow, name).node for name in "abc"] == ["", "dead", "one"]


def test_one_leads_until_it_is_dead_and_each_leader_has_its_term(session):
    assert nodes.claim_leadership_getting_term_or_zero(session, "one", ["one", "other"]) == 1
    assert nodes.claim_leadership_getting_term_or_zero(session, "one", ["one", "other"]) == 1
    assert nodes.claim_leadership_getting_term_or_zero(session, "other", ["one", "other"]) == 0
    assert nodes.claim_leadership_getting_term_or_zero(session, "other", ["other"]) == 2
    assert nodes.claim_leadership_getting_term_or_zero(session, "one", ["one", "other"]) == 0
    lease = session.get_one(LeaseRow, MACHINE)
    assert (lease.node, lease.host) == ("other", "")
    assert lease.asked_at == pytest.approx(database_time(session), abs=30)
