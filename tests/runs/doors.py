"""What all doors lead to, in this process: a database, and runs that are put into the log and never worked on."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import httpx
from sqlmodel import Session
from typer.testing import CliRunner

from app.__main__ import app as terminal
from app.config import Settings
from app.engines.queue import EngineQueues
from app.engines.replica_choice import EngineTraffic
from app.errors import TemperError
from app.events.bus import Bus
from app.events.record import GENESIS, build_recorded_event
from app.lineups.reader import read_lineup, require_lineup_path
from app.machine.sampling.sample_board import Board
from app.main import create_app
from app.runtime.free_disk_space_meter import DiskMeter
from app.store import run_queries
from app.store.change_monitor import ChangeMonitor
from app.store.database_clock import DatabaseClock
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from app.store.host_groups import replace_group


class AtWork:
    """A queue whose process took up every unended run just now."""

    def __init__(self, runtime):
        self._runtime = runtime

    @property
    def taken_at(self):
        with Session(self._runtime.database) as session:
            return {row.id: self._runtime.clock.now() for row in run_queries.list_unended_runs(session)}


class House:
    """What routes see of a runtime."""

    leases = simulator = None

    def __init__(self, folder, **settings):
        self.writer = SimpleNamespace(stalled_seconds=0.0, broken=asyncio.Event())
        self.settings = Settings(data=folder, speed=0, database_url="", **settings)
        self.lineup = read_lineup(require_lineup_path("simulated"))
        self.database = open_and_migrate_database(self.settings.database_path_or_url)
        self.clock = DatabaseClock()
        self.store, self.bus, self.board = EventStore(self.database), Bus(), Board()
        self.queues, self.disk, self.began_at = EngineQueues(EngineTraffic()), DiskMeter(), 0.0
        self.durable, self.changes = AtWork(self), ChangeMonitor(self.database)
        self.submitted, self.launched = [], {}

    async def submit_run(self, request, run="r1"):
        self.submitted.append(request)
        return run

    def append(self, run, *events, at=1000.0):
        last = self.store.read_last_link(run)
        for event in events:
            one = build_recorded_event(run, last[0] + 1 if last else 1, at, event, last[1] if last else GENESIS)
            self.store.append([one])
            last = one.seq, one.hash

    async def typed(self, *words):
        """The error that ends a command, or None. How it is printed, and its exit code, are for tests/test_cli.py."""
        return await self.typed_bare(*words, "--data", str(self.settings.data))

    async def typed_bare(self, *line):
        done = await asyncio.to_thread(CliRunner().invoke, terminal, line)
        assert done.exception is None or isinstance(done.exception, TemperError), (done.exception, done.output)
        return done.exception


async def refused_alike(doors, good, wrong, *ways):
    """What is wrong is refused at every door, and in the same sentence."""
    for what, (change, says) in wrong.items():
        found = {door.__name__: await door(doors, good | change) for door in ways}
        assert len(set(found.values())) == 1, (what, found)
        assert says in found["api"], (what, found)


@asynccontextmanager
async def house_with_lab(folder):
    """The house, and one group in it: lab, with the host fixture."""
    async with house(folder) as made:
        with Session(made.database) as session, session.begin():
            replace_group(session, "lab", ["fixture"])
        yield made


@asynccontextmanager
async def house(folder, **settings):
    made = House(folder, **settings)
    made.application = create_app(made)
    transport = httpx.ASGITransport(made.application)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as http:
        made.http = http
        yield made
    made.changes.close()
    made.database.dispose()
