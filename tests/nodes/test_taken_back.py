"""A process takes back a run that it had under another name, while what it said of it still waits to be written."""

import asyncio
import time

import pytest
from sqlalchemy import text
from sqlmodel import Session

from app.config import Settings
from app.events.bus import Bus
from app.events.kinds import RunPaused
from app.events.log_writer import LogWriter, RunLog
from app.events.record import GENESIS, build_recorded_event, check_chain_and_get_head
from app.runtime.runtime import Runtime
from app.store.database_clock import open_clock
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.leases import LeaseRow
from tests.loop.playing import pack, request, rule
from tests.nodes.test_shared_database import member
from tests.postgres import new_database

UNUSED = (None,) * 11
"""What a run needs that is taken up."""


class Watched(LogWriter):
    """Tells when somebody waits for all that was said."""

    def __init__(self, sink, bus):
        super().__init__(sink, bus)
        self.awaited = asyncio.Event()

    async def flush(self):
        self.awaited.set()
        await super().flush()


@pytest.fixture
def database(server):
    opened = open_and_migrate_database(new_database(server))
    yield opened
    opened.dispose()


async def test_it_is_not_taken_up_before_what_was_said_of_it_has_landed(database, tmp_path):
    leases = member(database, "again")
    store, bus = EventStore(database, leases), Bus()
    store.append([build_recorded_event("r", 1, time.time(), request(pack([rule("A")])), GENESIS)])
    writer = Watched(store, bus)
    writer.start()
    settings = Settings(data=tmp_path)
    runtime = Runtime(settings, None, leases, database, open_clock(database), store, bus, writer, *UNUSED)
    runtime.durable = None
    with database.connect() as locking:
        locking.execute(text("lock table event in exclusive mode"))  # it can be read
        RunLog("r", writer, store.read_last_link("r")).append(RunPaused(by="ada"))
        taking_up, awaited = (
            asyncio.create_task(runtime.work_on_run("r", 1)),
            asyncio.create_task(writer.awaited.wait()),
        )
        async with asyncio.timeout(30):
            await asyncio.wait({taking_up, awaited}, return_when=asyncio.FIRST_COMPLETED)
        with Session(database) as session:
            assert session.get(LeaseRow, "r") is None, "how far its log has come is read once it is ours"
        taking_up.cancel()
        locking.rollback()
    await asyncio.wait({taking_up, awaited})
    await LogWriter.flush(writer)
    await writer.close()
    check_chain_and_get_head(store.read_lines("r"))
    assert store.read_newest_seq("r") == 2
