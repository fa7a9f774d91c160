"""A database whose clock is hours from the nodes': what one node wrote and another reads is by the database's alone."""

import asyncio
from contextlib import asynccontextmanager

import pytest
from sqlalchemy import text
from sqlmodel import Session

from app.background.schedules.schedule_editing import ScheduleSpec, create_schedule_row
from app.background.schedules.scheduler import Scheduler
from app.cli.runtime_opening import load_lineup, open_runtime
from app.config import Settings
from app.runs.order import Order, create_run_request
from app.store import issued_credentials, nodes, people
from app.store.database_clock import database_time, open_clock
from app.store.db import open_and_migrate_database
from app.store.models import ScheduleRow
from app.web.access.authenticator import Authenticator
from tests.following import followed
from tests.postgres import new_database

# What a thread still asks as its runtime ends comes back to a pool that was disposed of, and is closed by nobody.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
HOURS = 7200.0
NEAR = 60.0


@pytest.fixture(params=[HOURS, -HOURS], ids=["ahead", "behind"])
def address(server, request):
    """Of a database whose time is this many seconds from everybody else's."""
    made = new_database(server)
    database = open_and_migrate_database(made)
    with database.begin() as connection:
        connection.execute(
            text(
                "create function public.clock_timestamp() returns timestamptz language sql volatile as"
                f" $$ select pg_catalog.clock_timestamp() + interval '{request.param} seconds' $$"
            )
        )
        name = made.rpartition("/")[2]
        connection.execute(text(f'alter database "{name}" set search_path = public, pg_catalog'))
    database.dispose()
    return made


@pytest.fixture
def database(address):
    made = open_and_migrate_database(address)
    yield made
    made.dispose()


@pytest.fixture
def clock(database):
    made = open_clock(database)
    assert abs(made.own_clock_seconds_ahead) == pytest.approx(HOURS, abs=1)
    return made


@asynccontextmanager
async def working(address, tmp_path):
    settings = Settings(data=tmp_path / "data", database_url=address, speed=0)
    lineup = load_lineup(settings)
    async with open_runtime(settings, lineup) as runtime:
        yield runtime, lineup


async def test_all_of_a_run_is_written_by_the_databases_time(address, tmp_path):
    async with working(address, tmp_path) as (runtime, lineup):
        order = Order(rules=("V-257985",), mode="scan", pace=0, by="ada")
        run = await runtime.submit_run(create_run_request(order, lineup, runtime.settings.hosts_folder))
        events = await followed(runtime, run)
        now = runtime.clock.now()
        assert all(now - NEAR < one.at <= now for one in events)
        row = runtime.read_run_row(run)
        assert now - NEAR < row.queued_at <= row.started_at <= row.ended_at <= now
        with Session(runtime.database) as session:
            [told] = nodes.list_unended_node_statuses(session)
        assert abs(told.clock_off) == pytest.approx(HOURS, abs=1)
        assert told.needs_its_clock_set


async def test_a_run_that_a_node_ordered_and_left_is_seen_by_the_others_whatever_its_clock_said(address, tmp_path):
    async with working(address, tmp_path) as (runtime, lineup):
        await runtime.offers.close()
        order = Order(rules=("V-257985",), mode="scan", pace=0, by="ada")
        run = await runtime.submit_run(create_run_request(order, lineup, runtime.settings.hosts_folder))
        with Session(runtime.database) as session, session.begin():
            in_a_moment = database_time(session) + 2
            found = nodes.mark_orphaned_runs_as_offered_and_list_them(
                session, "other", (), nodes.list_unended_nodes(session), in_a_moment
            )
            assert [one.run for one in found] == [run]
            session.rollback()


async def test_who_leads_keeps_schedules_by_it(address, tmp_path):
    async with working(address, tmp_path) as (runtime, _):
        with Session(runtime.database, expire_on_commit=False) as session, session.begin():
            now = database_time(session)
            order = Order(rules=("V-257985",), mode="scan", by="ada")
            due, later = (
                create_schedule_row(ScheduleSpec(order=order, cron="*/30 * * * *"), now, tmp_path / "hosts")
                for _ in "ab"
            )
            due.next_at, later.next_at = now - 1, now + 1800
            session.add_all((due, later))
        keeper = Scheduler(runtime)
        keeper.start()
        async with asyncio.timeout(30):
            while not kept(runtime, due).outcome:
                await runtime.changes.wait_for_change(runtime.changes.version(), 0.1)
        await keeper.close()
        assert kept(runtime, due).outcome.startswith("Started run ")
        assert (kept(runtime, later).outcome, kept(runtime, later).next_at) == ("", later.next_at)


def kept(runtime, row):
    with Session(runtime.database) as session:
        return session.get_one(ScheduleRow, row.id)


def test_a_token_holds_as_long_at_every_node(database, clock):
    with Session(database) as session, session.begin():
        people.add_person(session, people.build_person("ada", "admin", "correct horse battery"))
        _, secret = issued_credentials.issue_credential(
            session, person="ada", right="admin", kind="token", label="t", seconds=600
        )
        _, over = issued_credentials.issue_credential(
            session, person="ada", right="admin", kind="token", label="t", seconds=0
        )
    door = Authenticator(database, demo=False, clock=clock.now)
    assert door.find_token_owner(secret).name == "ada"
    assert door.find_token_owner(over) is None
    door.close()
