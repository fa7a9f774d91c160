"""What makes a node not ready, though it answers."""

import asyncio
from time import monotonic
from types import SimpleNamespace

import pytest
from fastapi import Response

from app.config import Settings
from app.runtime.free_disk_space_meter import DiskMeter
from app.runtime.health_faults import LATE_DATABASE
from app.store.database_clock import DatabaseClock
from app.store.db import open_and_migrate_database
from app.web.api.health import readyz


@pytest.fixture
def node(tmp_path):
    """Of several on a database that answered just now, with nothing to write and no engine; and its steady clock."""
    time = SimpleNamespace(now=100.0)
    clock = DatabaseClock(steady=lambda: time.now)
    clock.note_question_and_get_handler_of_answered_time()(5000.0)
    made = SimpleNamespace(
        board=SimpleNamespace(states={}, polling_since=None, polled_at=monotonic()),
        simulator=None,
        lineup=SimpleNamespace(seats={}),
        writer=SimpleNamespace(stalled_seconds=0.0, broken=asyncio.Event(), enqueue_batch=lambda _: None),
        clock=clock,
        settings=Settings(data=tmp_path / "data"),
        leases=SimpleNamespace(),
        database=open_and_migrate_database(tmp_path / "temper.sqlite"),
        disk=DiskMeter(),
    )
    made.settings.data.mkdir()
    yield made, time
    made.database.dispose()


async def test_a_node_that_the_database_does_not_answer_is_not_ready_though_it_has_nothing_to_write(node):
    (runtime, time), answer = node, Response()
    assert (await readyz(runtime, answer)).ready
    assert answer.status_code == 200
    time.now += LATE_DATABASE + 1
    said = await readyz(runtime, answer)
    assert not said.ready
    assert said.reasons == [
        f"{said.faults[0]} Runs wait for it and resume by themselves. Check the database and the network."
    ]
    assert answer.status_code == 503
    assert said.faults == ["The database does not answer this node."]


async def test_a_node_that_cannot_write_its_data_folder_is_not_ready_though_it_has_nothing_to_write(node):
    (runtime, _), answer = node, Response()
    runtime.settings.data.rmdir()
    said = await readyz(runtime, answer)
    assert said.reasons == ["the data folder cannot be written: No such file or directory"]
    assert answer.status_code == 503
