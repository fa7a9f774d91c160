"""What is asked of a run from a shell: refused where nobody would ever do it."""

import time

import pytest

from app.cli.run_control import record_run_command_in_database
from app.config import Settings
from app.errors import BadInput
from app.events.kinds import RunStarted
from app.events.record import GENESIS, build_recorded_event
from app.store.db import open_and_migrate_database
from app.store.events import EventStore
from tests.loop.playing import pack, request, rule


@pytest.fixture
def asking(tmp_path):
    settings = Settings(data=tmp_path)
    database = open_and_migrate_database(settings.database_path_or_url)
    queued = build_recorded_event("r1", 1, time.time(), request(pack([rule("A")])), GENESIS)
    started = build_recorded_event(
        "r1", 2, time.time(), RunStarted(worker="w", confinement="", scanner="s", probes=()), queued.hash
    )
    EventStore(database).append([queued])
    yield settings, database, started
    database.dispose()


def test_a_run_that_waits_in_the_queue_cannot_be_paused_and_one_at_work_can(asking):
    settings, database, started = asking
    with pytest.raises(BadInput, match="run r1 is queued: the command pause requires a running run"):
        record_run_command_in_database(settings, "r1", "pause", "")
    EventStore(database).append([started])
    record_run_command_in_database(settings, "r1", "pause", "")
    with pytest.raises(BadInput, match="run r1 is running: the command resume requires a paused run"):
        record_run_command_in_database(settings, "r1", "resume", "")
