"""What a node asks of the database while there is nothing to do, and what ends that."""

import asyncio
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from sqlalchemy import Engine, event, text
from sqlmodel import Session

from app.config import Settings
from app.events.bus import Bus
from app.events.record import GENESIS, build_recorded_event
from app.loop.durable_run_queue import DurableQueue
from app.runtime.accepted_runs_offered_to_queue import IdleQueueSuspender, Offers
from app.runtime.node_heartbeat_and_takeover import Node
from app.store import nodes
from app.store.change_monitor import ChangeMonitor
from app.store.database_clock import DatabaseClock
from app.store.db import open_and_migrate_database, use_autocommit_if_shared
from app.store.events import EventStore
from app.store.host_folder_contents_in_database import HostFolders
from app.store.leases import Leases
from app.store.nodes import NodeRow
from app.store.postgres_notification_listener import NotificationListener
from app.store.run_queries import has_unended_runs
from tests.loop.playing import pack, request, rule
from tests.nodes.test_shared_database import member
from tests.postgres import new_database


@pytest.fixture
def address(server):
    return new_database(server)


@pytest.fixture
def database(address):
    opened = open_and_migrate_database(address)
    yield opened
    opened.dispose()


class Queue:
    """At rest, and told of nothing."""

    in_hand, awake = (), False

    async def cancel_runs(self):
        pass


@pytest.fixture
async def node(database, tmp_path):
    """One that has settled: it leads, and has looked at everything."""
    writer = SimpleNamespace(broken=asyncio.Event())
    (tmp_path / "data").mkdir()
    made = Node(
        database,
        Settings(data=tmp_path / "data"),
        Leases(database, "me"),
        Queue(),
        writer,
        ChangeMonitor(database),
        DatabaseClock(),
    )
    await made.register_and_sync_host_folders()
    for _ in range(3):
        await made.send_heartbeat_and_sweep()
    return made


@contextmanager
def sent():
    """Each statement, as it begins."""
    said = []

    def note(_connection, _cursor, statement, *_):
        said.append(statement.split(" ", 1)[0])

    event.listen(Engine, "before_cursor_execute", note)
    yield said
    event.remove(Engine, "before_cursor_execute", note)


async def test_a_look_with_nothing_to_do_is_one_statement(node):
    with sent() as said:
        await node.send_heartbeat_and_sweep()
        await node.send_heartbeat_and_sweep()
    assert said == ["WITH", "WITH"]


async def test_who_falls_silent_is_given_up_by_the_next_look_and_who_was_given_up_begins_anew(node, database):
    member(database, "silent", seen=nodes.DEAD_AFTER + 1)
    await node.send_heartbeat_and_sweep()
    with Session(database) as session, session.begin():
        assert [row.name for row in nodes.list_unended_nodes(session)] == ["me"]
        nodes.mark_nodes_ended(session, {"me"})
    await node.send_heartbeat_and_sweep()
    with Session(database) as session:
        [again] = nodes.list_unended_nodes(session)
    assert again.name == node._leases.node != "me"


async def test_what_no_notice_tells_of_is_seen_by_the_next_look(node, database, tmp_path):
    before = node._changes.version()
    with database.begin() as connection:
        connection.execute(
            text(
                "insert into webhook (id, url, secret, kinds, created_at, delivered, dropped, problem, local, template)"
                " values ('w', 'http://x', 's', '', 0, 0, 0, '', false, '')"
            )
        )
    await node.send_heartbeat_and_sweep()
    assert node._changes.version() != before
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "web").mkdir(parents=True)
    for name in ("host.json", "known_hosts"):
        (elsewhere / "web" / name).write_text("{}")
    HostFolders(database, elsewhere).store_registration("web")
    await node.send_heartbeat_and_sweep()
    assert (tmp_path / "data" / "hosts" / "web" / "host.json").exists()


async def test_who_rests_is_woken_by_what_another_node_was_asked_for(address, database):
    driven: asyncio.Queue[str] = asyncio.Queue()

    async def drive(run: str, _epoch: int) -> None:
        driven.put_nowait(run)

    def idle() -> bool:
        with Session(database) as session:
            return not has_unended_runs(session)

    bus, changes, durable = Bus(), ChangeMonitor(database), DurableQueue(address, "me", drive)
    bus.subscribe(changes)
    store = EventStore(database)
    notices, rests = NotificationListener(database, store, bus), IdleQueueSuspender(durable, idle, changes)
    offers = Offers(store, durable, changes, lambda: True)
    await durable.launch()
    await durable.suspend_if_idle()
    async with asyncio.timeout(60):
        notices.start()
        await notices.listening.wait()
        await rests.suspend_or_launch_queue(0.0)
        rests.start()
        offers.start()
        EventStore(database).append([build_recorded_event("r", 1, time.time(), request(pack([rule("A")])), GENESIS)])
        assert await driven.get() == "r"
    for one in (offers, rests, notices, durable):
        await one.close()


def test_a_sign_of_life_tells_who_else_lives_and_not_to_who_was_given_up(database):
    member(database, "me")
    member(database, "silent", seen=nodes.DEAD_AFTER + 1)
    with Session(use_autocommit_if_shared(database)) as session:
        seen = nodes.send_heartbeat_and_read_overview(session, "me")
    assert seen
    assert [row.name for row in seen.living] == ["me", "silent"]
    assert [row.name for row in seen.responsive_nodes] == ["me"]
    with Session(database) as session, session.begin():
        assert session.get_one(NodeRow, "me").seen_at == seen.at
        nodes.mark_nodes_ended(session, {"me"})
    with Session(use_autocommit_if_shared(database)) as session:
        assert nodes.send_heartbeat_and_read_overview(session, "me") is None
