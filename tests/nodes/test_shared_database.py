"""What several nodes do to one database at once, without processes of their own."""

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest
from sqlalchemy import create_engine, event, text, update
from sqlmodel import Session, select

from app.config import Settings
from app.errors import EnvironmentUnusable, LeaseLost
from app.events.bus import Bus
from app.events.event_field_types import Lesson
from app.events.kinds import AuditedRequest, LessonLearnt, RunFinished, RunPaused
from app.events.log_writer import LogWriter, RunLog
from app.events.record import AUDIT, GENESIS, build_recorded_event, check_chain_and_get_head
from app.runtime.node_heartbeat_and_takeover import Node
from app.store import audit, nodes
from app.store.database_clock import DatabaseClock, database_time
from app.store.db import HEAD, open_and_migrate_database, read_revision
from app.store.events import EventStore
from app.store.leases import LeaseRow, Leases
from app.store.models import LessonRow, RunRow
from app.store.nodes import NodeRow
from app.store.postgres_notification_listener import NotificationListener
from app.store.projection import project_events
from tests.loop.playing import pack, request, rule
from tests.postgres import empty_database, new_database


@pytest.fixture
def database(server):
    opened = open_and_migrate_database(new_database(server))
    yield opened
    opened.dispose()


def test_many_open_a_new_database_at_once_and_it_is_migrated_once(server):
    address = empty_database(server)
    with ThreadPoolExecutor(8) as pool:
        opened = list(pool.map(open_and_migrate_database, [address] * 8))
    assert [read_revision(engine) for engine in opened] == [HEAD] * 8
    for engine in opened:
        engine.dispose()


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("postgresql://temper:geheim@127.0.0.1:1/t", "cannot use postgresql://temper:***@127.0.0.1:1/t"),
        ("mysql://h/t", "TEMPER_DATABASE_URL names mysql"),
        ("no address", "is not a valid address"),
    ],
)
def test_a_database_that_cannot_be_used_is_a_sentence_without_its_password(place, says):
    with pytest.raises(EnvironmentUnusable) as raised:
        open_and_migrate_database(place)
    assert says in str(raised.value)
    assert "geheim" not in str(raised.value)


def test_what_people_do_at_several_nodes_is_one_chain(database):
    did = AuditedRequest(who="a", right="admin", via="token", source="127.0.0.1", did="POST /", status=200)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: audit.record_audit_event(database, did), range(80)))
    rows = EventStore(database).read_lines(AUDIT)
    assert len(rows) == 80
    check_chain_and_get_head(rows)


def member(database, name, seen=0.0):
    """A node that was last seen `seen` seconds ago."""
    with Session(database) as session, session.begin():
        at = database_time(session)
        row = NodeRow(name=name, kind="worker", machine="m", pid=1, began=1, started_at=at, seen_at=at - seen)
        session.add(row)
    return Leases(database, name)


def test_a_run_is_one_nodes_until_it_is_offered_again(database):
    one, other = member(database, "one"), member(database, "other")
    one.acquire("r", "h", 1)
    one.acquire("r", "h", 1)
    one.create_lease_check_before_change("r")()
    with pytest.raises(LeaseLost):
        other.acquire("r", "h", 1)
    with pytest.raises(LeaseLost):
        other.create_lease_check_before_change("r")()
    with Session(database) as session, session.begin():
        row = session.get_one(LeaseRow, "r")
        row.node, row.epoch = "", 2
        session.add(row)
    with pytest.raises(LeaseLost):
        one.create_lease_check_before_change("r")()
    with pytest.raises(LeaseLost):
        one.acquire("r", "h", 1)  # an entry of the queue from before
    other.acquire("r", "h", 2)
    other.create_lease_check_before_change("r")()


async def two_runs(database, member, *names):
    """Each with two events in the database, and a log that is gone on with."""
    store = EventStore(database, member)
    writer = LogWriter(store, Bus())
    writer.start()
    logs = {run: RunLog(run, writer) for run in names}
    for run, log in logs.items():
        member.acquire(run, "h", 1)
        log.append(RunPaused(by="a"), RunPaused(by="b"))
        await log.flush()
    return store, writer, logs


async def test_who_lost_a_run_writes_nothing_of_it_and_its_other_runs_go_on(database):
    one, other = member(database, "one"), member(database, "other")
    store, writer, logs = await two_runs(database, one, "kept", "taken")
    with Session(database) as session, session.begin():
        row = session.get_one(LeaseRow, "taken")
        row.node = other.node
        session.add(row)
    for log in logs.values():
        log.append(RunPaused(by="second"))
    await logs["kept"].flush()
    with pytest.raises(LeaseLost):
        await logs["taken"].flush()
    await writer.close()
    assert [len(store.read_lines(run)) for run in logs] == [3, 2]


def test_a_batch_asks_as_much_of_the_database_however_long_it_is(database):
    Leases(database, "a").acquire("r", "h", 0)
    store, asked = EventStore(database, Leases(database, "a")), []
    event.listen(database, "before_cursor_execute", lambda *told: asked.append(told[2]))
    store.append([last := build_recorded_event("r", 1, 1.0, request(pack([rule("V-1")])), GENESIS)])
    for many in (1, 50):
        batch = [
            last := build_recorded_event("r", last.seq + 1, 2.0, RunPaused(by="ada"), last.hash) for _ in range(many)
        ]
        asked.clear()
        store.append(batch)
        assert len(asked) == 4, asked  # whose it is, the lines, the run's row, word of it
    check_chain_and_get_head(store.read_lines("r"), "r")
    assert store.read_newest_seq("r") == 52


async def test_a_database_that_drops_every_connection_loses_nothing_and_doubles_nothing(database):
    store = EventStore(database, member(database, "one"))
    writer = LogWriter(store, Bus())
    writer.start()
    log = RunLog("r", writer)
    cut = text("select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()")
    for number in range(60):
        log.append(RunPaused(by=str(number)))
        if number % 20 == 10:
            with database.connect() as connection:
                connection.execute(cut)
        await log.flush()
    await writer.close()
    rows = store.read_lines("r")
    assert len(rows) == 60
    check_chain_and_get_head(rows)


async def test_a_log_that_lost_its_end_is_not_gone_on_with_and_the_others_are(database):
    """As after a failover to a standby that was behind."""
    one = member(database, "one")
    store, writer, logs = await two_runs(database, one, "cut", "whole")
    with database.begin() as connection:
        connection.execute(text("delete from event where run = 'cut' and seq = 2"))
    for log in logs.values():
        log.append(RunPaused(by="c"))
    await logs["whole"].flush()
    with pytest.raises(LeaseLost):
        await logs["cut"].flush()
    assert [len(store.read_lines(run)) for run in logs] == [1, 3]
    writer.lost.clear()
    again = RunLog("cut", writer, store.read_last_link("cut"))
    again.append(RunPaused(by="d"))
    await again.flush()
    check_chain_and_get_head(store.read_lines("cut"))
    await writer.close()


def test_what_still_waits_of_a_run_that_the_process_took_back_is_dropped_and_its_node_goes_on(database):
    """Cut off from the database it was given up, and has the run again under a new name."""
    leases = member(database, "one")
    store = EventStore(database, leases)
    leases.acquire("r", "h", 1)
    first = build_recorded_event("r", 1, 1.0, RunPaused(by="a"), GENESIS)
    waits, anew = (build_recorded_event("r", 2, 2.0, RunPaused(by=by), first.hash) for by in ("one", "again"))
    store.append([first])
    with Session(database) as session, session.begin():
        row = session.get_one(LeaseRow, "r")
        row.node, row.epoch = "", 2
    leases.node = "again"
    leases.acquire("r", "h", 2)
    assert store.append([anew]) == frozenset()
    assert store.append([waits]) == {"r"}
    check_chain_and_get_head(store.read_lines("r"))
    assert store.read_last_link("r") == (2, anew.hash)


def test_notices_are_listened_for_with_the_password_of_the_address(database):
    engine = create_engine("postgresql+psycopg://temper:secret@127.0.0.1:1/temper")
    listener = NotificationListener(engine, EventStore(database), Bus())
    assert listener._address == "postgresql://temper:secret@127.0.0.1:1/temper"


async def test_a_node_hears_of_what_another_wrote_and_of_what_it_missed(database):
    bus = Bus()
    bus.notify_external("r", 1)
    writing = EventStore(database, member(database, "one"))
    writer = LogWriter(writing, Bus())
    writer.start()
    log = RunLog("r", writer)
    log.append(*(RunPaused(by="x") for _ in range(3)))
    await log.flush()
    notices = NotificationListener(database, EventStore(database), bus)
    notices.start()
    async with asyncio.timeout(20):
        await bus.wait_for_event_after("r", 2)  # written before it listened
        await notices.listening.wait()
        log.append(RunPaused(by="y"))
        await bus.wait_for_event_after("r", 3)
        with database.connect() as connection:
            connection.execute(
                text("select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen%'")
            )
        log.append(RunPaused(by="z"))
        await bus.wait_for_event_after("r", 4)
    await notices.close()
    await writer.close()


def test_what_two_nodes_learn_at_the_same_moment_is_one_lesson_and_both_logs_go_on(database):
    lesson = Lesson(id="same", rule="A", mechanism="m", environment="e", advice="a")
    first, other = Leases(database, "one"), Leases(database, "other")
    logs = []
    for leases, run in ((first, "r1"), (other, "r2")):
        begun = build_recorded_event(run, 1, time.time(), request(pack([rule("A")])), GENESIS)
        EventStore(database, leases).append([begun])
        logs.append(
            build_recorded_event(run, 2, time.time(), LessonLearnt(rule="A", attempt=1, lesson=lesson), begun.hash)
        )
    blocked = text("select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()")
    with Session(database) as session, ThreadPoolExecutor(1) as pool:
        project_events(session, logs[:1])
        session.flush()
        told = pool.submit(EventStore(database, other).append, logs[1:])
        with database.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            while not connection.execute(blocked).first():
                assert not told.done(), told.result()
        session.commit()
        assert told.result() == frozenset()
    with Session(database) as session:
        assert [row.run for row in session.exec(select(LessonRow)).all()] == ["r1"]


def test_one_leads_until_it_ends(database):
    member(database, "one")
    member(database, "other")

    def leads(name):
        with Session(database) as session, session.begin():
            return nodes.claim_leadership_getting_term_or_zero(
                session, name, {node.name for node in nodes.list_unended_nodes(session)}
            )

    first, nobody, same = leads("one"), leads("other"), leads("one")
    assert first
    assert (nobody, same) == (0, first)
    with Session(database) as session, session.begin():
        nodes.mark_nodes_ended(session, {"one"})
    assert leads("other") > first, "a turn of its own"
    assert leads("one") == 0


def test_what_a_gone_node_leaves_is_looked_after_a_part_at_a_time(database):
    leases = member(database, "gone")
    count = nodes.MOST_LEFT + 1
    begun = [build_recorded_event(f"r{number}", 1, 1.0, request(pack([rule("A")])), GENESIS) for number in range(count)]
    EventStore(database).append(begun)
    for one in begun:
        leases.acquire(one.run, "h", 1)
    with Session(database) as session, session.begin():
        session.execute(update(RunRow).values(state="finished", ended_at=2.0))
        assert nodes.list_ended_runs_of_dead_nodes(session) == []
        nodes.mark_nodes_ended(session, {"gone"})
    for most in (nodes.MOST_LEFT, 1, 0):
        with Session(database) as session, session.begin():
            found = [one.run for one in nodes.list_ended_runs_of_dead_nodes(session)]
            nodes.release_runs(session, found)
        assert len(found) == most


def test_nodes_that_ended_long_ago_are_forgotten_and_the_others_are_not(database):
    for name in ("long ago", "just now", "at work"):
        member(database, name)
    with Session(database) as session, session.begin():
        nodes.mark_nodes_ended(session, {"long ago", "just now"})
        row = session.get_one(NodeRow, "long ago")
        row.ended_at = database_time(session) - nodes.FORGOTTEN_AFTER - 60
    with Session(database) as session, session.begin():
        nodes.delete_long_ended_nodes_and_run_leases(session)
    with Session(database) as session:
        assert sorted(session.exec(select(NodeRow.name)).all()) == ["at work", "just now"]


def test_a_node_that_was_given_up_is_named_until_it_comes_back_and_one_that_left_is_not(database):
    member(database, "left")
    member(database, "silent", seen=nodes.DEAD_AFTER + 1)
    with Session(database) as session, session.begin():
        nodes.mark_nodes_ended(session, {"left", "silent"})
    with Session(database) as session, session.begin():
        [lost] = nodes.list_given_up_nodes(session)
        assert (lost.name, lost.silent_seconds > nodes.DEAD_AFTER) == ("silent", True)
        for name, pid in (("another", 2), ("silent again", 1)):
            row = NodeRow(name=name, kind="worker", machine="m", pid=pid, began=1, started_at=1.0, seen_at=1.0)
            session.add(row)
            assert bool(nodes.list_given_up_nodes(session)) == (name == "another")


def test_who_is_silent_is_not_told_from_the_clock_of_who_looks(database):
    member(database, "quiet", seen=nodes.DEAD_AFTER + 1)
    with Session(database) as session:
        [row] = session.exec(select(NodeRow)).all()
        assert database_time(session) - row.seen_at > nodes.DEAD_AFTER
        assert abs(database_time(session) - time.time()) < 60
        assert nodes.list_responsive_nodes(session) == []


def test_a_node_that_is_slow_gives_up_who_is_silent_and_never_itself(database, tmp_path):
    leases = member(database, "slow", seen=nodes.DEAD_AFTER + 1)
    member(database, "silent", seen=nodes.DEAD_AFTER + 1)
    slow = Node(
        database,
        Settings(data=tmp_path),
        leases,
        SimpleNamespace(in_hand=(), list_still_queued=nodes.report_none_queued),
        None,
        None,
        DatabaseClock(),
    )
    assert list(slow._sweep_nodes_and_list_orphans_to_offer(seconds_since_beat=0.0, may_offer_runs=True)) == []
    with Session(database) as session:
        assert [node.name for node in nodes.list_unended_nodes(session)] == ["slow"]


def test_a_node_takes_its_share_of_the_runs_and_one_alone_takes_all(database):
    def share():
        with Session(database) as session:
            return nodes.compute_max_runs_per_node(session)

    member(database, "one")
    assert share() is None
    member(database, "other")
    member(database, "silent", seen=nodes.DEAD_AFTER + 1)
    assert share() == 1
    asked, ended = (
        request(pack([rule("A")])),
        RunFinished(passed=0, escalated=0, skipped=0, deferred=0, regressions=(), tree=""),
    )
    store = EventStore(database)
    for number in range(7):
        begun = build_recorded_event(f"r{number}", 1, time.time(), asked, GENESIS)
        store.append(
            [begun, build_recorded_event(begun.run, 2, time.time(), ended, begun.hash)] if number < 2 else [begun]
        )
    assert share() == 4
