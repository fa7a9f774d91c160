"""Whether the database has changed, as SQLite itself tells it."""

import asyncio
import sqlite3

import pytest

from app.events.bus import Bus
from app.events.kinds import RunPaused
from app.events.record import GENESIS, MACHINE, build_recorded_event
from app.store.change_monitor import ChangeMonitor
from app.store.db import open_and_migrate_database
from tests.postgres import new_database

FOR_EVER = 3600.0


def test_a_commit_of_anybody_makes_another_version_and_nothing_else_does(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    changes = ChangeMonitor(database)
    before = changes.version()
    with database.connect() as connection:
        connection.exec_driver_sql("select count(*) from run").scalar()
    assert changes.version() == before
    with database.begin() as connection:
        connection.exec_driver_sql("create table ours (x)")
    ours = changes.version()
    assert ours != before
    other = sqlite3.connect(tmp_path / "temper.sqlite")  # as another process has it
    with other:
        other.execute("insert into ours values (1)")
    other.close()
    assert changes.version() != ours
    changes.close()
    database.dispose()


@pytest.mark.timeout(20)
async def test_on_sqlite_a_change_before_the_wait_is_not_lost(tmp_path):
    database = open_and_migrate_database(tmp_path / "temper.sqlite")
    changes = ChangeMonitor(database)
    before = changes.version()
    with database.begin() as connection:
        connection.exec_driver_sql("create table ours (x)")
    changes.signal_change()
    await changes.wait_for_change(before, FOR_EVER)
    waits = asyncio.create_task(changes.wait_for_change(changes.version(), FOR_EVER))
    await asyncio.sleep(0)
    assert not waits.done(), "an older signal is none"
    changes.signal_change()
    await waits
    changes.close()
    database.dispose()


async def test_on_postgresql_the_log_tells_whoever_wrote_it_and_samples_tell_nothing(postgres_server):
    database = open_and_migrate_database(new_database(postgres_server))
    changes, bus = ChangeMonitor(database), Bus()
    bus.subscribe(changes)
    before = changes.version()
    bus.notify_external(MACHINE, 1)
    assert changes.version() == before
    bus.notify_external("r", 1)
    elsewhere = changes.version()
    bus.publish([build_recorded_event("r", 2, 1.0, RunPaused(by="a"), GENESIS)])
    here = changes.version()
    assert len({before, elsewhere, here}) == 3
    await changes.wait_for_change(before, FOR_EVER)  # it was told already
    waits = asyncio.create_task(changes.wait_for_change(here, FOR_EVER))
    await asyncio.sleep(0)
    changes.signal_change()
    await waits
    changes.close()
    database.dispose()
