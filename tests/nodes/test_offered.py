"""To whom a run goes that nobody works on, or whose host does not answer who has it."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import text
from sqlmodel import Session

from app.errors import LeaseLost
from app.events.record import GENESIS, build_recorded_event
from app.runtime.accepted_runs_offered_to_queue import (
    create_other_node_can_take_run_check,
    hand_unreachable_host_run_to_other_nodes,
    pass_run_on_if_unreachable,
)
from app.store import nodes
from app.store.database_clock import database_time
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.leases import LeaseRow
from app.store.nodes import Orphan
from tests.loop.playing import pack, request, rule
from tests.nodes.test_shared_database import member
from tests.postgres import new_database


@pytest.fixture
def database(server):
    opened = open_and_migrate_database(new_database(server))
    yield opened
    opened.dispose()


@pytest.fixture
def run(database):
    EventStore(database).append([build_recorded_event("r", 1, time.time() - 10, request(pack([rule("A")])), GENESIS)])
    return "r"


class Queue:
    """What is offered, instead of the queue."""

    def __init__(self):
        self.offered = []

    def offer_again_blocking(self, run, host, epoch):
        self.offered.append((run, host, epoch))


def test_a_host_that_answers_one_node_no_more_is_tried_by_each_of_the_others_once(database, run):
    one, other, queue = member(database, "one"), member(database, "other"), Queue()
    one.acquire(run, "h", 1)
    assert hand_unreachable_host_run_to_other_nodes(database, one, queue, run)
    assert queue.offered == [(run, "h", 2)]
    with pytest.raises(LeaseLost):
        one.create_lease_check_before_change(run)()
    with pytest.raises(LeaseLost):
        hand_unreachable_host_run_to_other_nodes(database, one, queue, run)  # somebody else's by now
    assert pass_run_on_if_unreachable(database, one, queue, run, 2), (
        "the queue gave it back to who cannot reach the host"
    )
    assert queue.offered[1:] == [(run, "h", 3)]
    assert not pass_run_on_if_unreachable(database, other, queue, run, 3)
    other.acquire(run, "h", 3)
    assert not hand_unreachable_host_run_to_other_nodes(database, other, queue, run), (
        "nobody is left to try: who has it says so"
    )
    other.create_lease_check_before_change(run)()
    assert len(queue.offered) == 2


def test_who_could_not_reach_it_a_while_ago_may_try_again(database, run):
    one, other, queue = member(database, "one"), member(database, "other"), Queue()
    one.acquire(run, "h", 1)
    assert hand_unreachable_host_run_to_other_nodes(database, one, queue, run)
    with Session(database) as session, session.begin():
        row = session.get_one(LeaseRow, run)
        at = database_time(session) - nodes.TRIED_FOR - 1
        row.unreached = f"one@{at:.3f}"
    assert not pass_run_on_if_unreachable(database, one, queue, run, 2)
    other.acquire(run, "h", 2)
    assert hand_unreachable_host_run_to_other_nodes(database, other, queue, run)


def test_the_only_one_that_is_left_takes_what_it_could_not_reach(database, run):
    one, queue = member(database, "one"), Queue()
    member(database, "other")
    one.acquire(run, "h", 1)
    assert hand_unreachable_host_run_to_other_nodes(database, one, queue, run)
    with Session(database) as session, session.begin():
        nodes.mark_nodes_ended(session, {"other"})
    assert not pass_run_on_if_unreachable(database, one, queue, run, 2)
    one.acquire(run, "h", 2)


def test_who_is_the_last_to_try_a_host_has_time_for_it_until_another_may_try_again(database, run):
    one, other = member(database, "one"), member(database, "other")
    one.nodes = other.nodes = 2
    one.acquire(run, "h", 1)
    assert create_other_node_can_take_run_check(database, one, run)()
    assert hand_unreachable_host_run_to_other_nodes(database, one, Queue(), run)
    other.acquire(run, "h", 2)
    assert not create_other_node_can_take_run_check(database, other, run)()
    third = member(database, "third")
    assert create_other_node_can_take_run_check(database, other, run)()
    third.nodes = 1
    assert not create_other_node_can_take_run_check(database, third, run)(), "whoever else was there has gone"
    with Session(database) as session, session.begin():
        nodes.mark_nodes_ended(session, {"third"})
        at = database_time(session) - nodes.TRIED_FOR
        session.get_one(LeaseRow, run).unreached = f"one@{at:.3f}"
    assert create_other_node_can_take_run_check(database, other, run)()


def test_alone_there_is_nobody_to_give_it_to(database, run):
    one = member(database, "one")
    one.acquire(run, "h", 1)
    assert not hand_unreachable_host_run_to_other_nodes(database, one, Queue(), run)
    one.create_lease_check_before_change(run)()


def test_who_loses_a_run_while_it_offers_it_offers_it_to_nobody(database, run):
    one, other, queue = member(database, "one"), member(database, "other"), Queue()
    one.acquire(run, "h", 1)
    blocked = text("select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
    with Session(database) as session, ThreadPoolExecutor(1) as pool:
        session.get_one(LeaseRow, run).node = other.node
        session.flush()
        told = pool.submit(hand_unreachable_host_run_to_other_nodes, database, one, queue, run)
        # Within one transaction PostgreSQL shows what it saw at the first look.
        with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.execute(blocked).first():
                assert not told.done(), told.result()
        session.commit()
        with pytest.raises(LeaseLost):
            told.result()
    assert queue.offered == []
    other.create_lease_check_before_change(run)()


def test_a_run_that_is_taken_while_another_looks_for_what_nobody_has_stays_taken(database, run):
    one, _ = member(database, "one"), member(database, "other")
    assert swept(database, lambda session: session.add(_taken(run, session))) == []
    one.create_lease_check_before_change(run)()

    def again(session):
        row = session.get_one(LeaseRow, run, with_for_update=True)
        row.node = "one"

    with Session(database) as session, session.begin():
        session.get_one(LeaseRow, run).node = "gone"
    assert swept(database, again) == []
    one.create_lease_check_before_change(run)()


def test_what_nobody_has_is_offered_once(database, run):
    member(database, "one")
    for found in ([Orphan(run, "h", 1)], []):
        with Session(database) as session, session.begin():
            assert offered_by(session, "one") == found


def offered_by(session, node, in_hand=(), queued=()):
    living, at = nodes.list_unended_nodes(session), database_time(session)
    return nodes.mark_orphaned_runs_as_offered_and_list_them(
        session, node, in_hand, living, at, lambda offered: {name for name, _ in offered} & {*queued}
    )


def test_what_was_offered_long_ago_and_nobody_took_is_offered_anew_unless_it_still_stands_in_the_queue(database, run):
    member(database, "one")

    def found(in_hand=(), queued=()):
        with Session(database) as session, session.begin():
            row = session.get_one(LeaseRow, run)
            row.asked_at = database_time(session) - nodes.ASK_AGAIN_AFTER
            session.flush()
            return offered_by(session, "one", in_hand, queued)

    with Session(database) as session, session.begin():
        offered_by(session, "one")
    assert found(queued=[run]) == found(in_hand=[run]) == []
    assert found() == [Orphan(run, "h", 2)]


def _taken(run, session):
    return LeaseRow(name=run, host="h", node="one", epoch=1, asked_at=database_time(session))


def swept(database, meanwhile):
    """What a look finds that begins before `meanwhile` is committed, and ends after."""

    def look():
        with Session(database) as session, session.begin():
            return offered_by(session, "other")

    with ThreadPoolExecutor(1) as pool:
        with Session(database) as session, session.begin():
            meanwhile(session)
            session.flush()
            looking = pool.submit(look)
            waits = text("select count(*) from pg_stat_activity where wait_event_type = 'Lock'")
            with database.connect().execution_options(isolation_level="AUTOCOMMIT") as watching:
                while not looking.done() and not watching.execute(waits).scalar():
                    pass
        return looking.result()
