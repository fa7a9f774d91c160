"""What an accepted run needs to start, where log and queue are written by two commits."""

import asyncio
import logging
import sqlite3
from contextlib import closing, contextmanager
from types import SimpleNamespace

import pytest

from app.errors import EnvironmentUnusable
from app.events.kinds import RunStarted
from app.runs.order import Order, create_run_request
from app.runtime.accepted_runs_offered_to_queue import Offers
from tests.following import followed
from tests.test_faults import RULE, worked


@contextmanager
def refused_by(file, table):
    """The database in `file` takes no new rows, as on a full disk."""
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(f"create trigger full before insert on {table} begin insert into nowhere values (1); end")
    yield
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("drop trigger full")


class Told(logging.Handler):
    def __init__(self):
        super().__init__()
        self.lines = asyncio.Queue()

    def emit(self, record):
        self.lines.put_nowait(record.getMessage())


def ordered(worker, lineup, note=""):
    order = Order(rules=(RULE,), mode="scan", pace=0, by="ada", note=note)
    return create_run_request(order, lineup, worker.settings.hosts_folder)


async def test_a_run_that_the_queue_could_not_take_is_accepted_and_starts_before_those_ordered_after_it(tmp_path):
    async with worked(tmp_path) as (worker, lineup):
        said = logging.getLogger("app.store.periodic_background_task_base")
        said.addHandler(told := Told())
        with refused_by(tmp_path / "dbos.sqlite", "workflow_status"):
            first = await worker.submit_run(ordered(worker, lineup, "first"))
            async with asyncio.timeout(30):
                assert "queued runs are not offered to the queue" in await told.lines.get()
        said.removeHandler(told)
        second = await worker.submit_run(ordered(worker, lineup, "second"))
        begun = {}
        async with asyncio.timeout(30):
            for run in (first, second):
                events = await followed(worker, run)
                begun[run] = next(one.at for one in events if isinstance(one.event, RunStarted))
    assert begun[first] < begun[second]


async def test_a_run_of_another_process_is_offered_by_whoever_leads(tmp_path):
    """As of `temper run` beside a server, and of one that died between the two commits."""
    async with worked(tmp_path) as (worker, lineup):
        worker.offers.request_offer_round = lambda: None
        async with asyncio.timeout(30):
            await followed(worker, await worker.submit_run(ordered(worker, lineup)))


async def test_a_run_that_is_refused_because_the_log_waits_leaves_nothing(tmp_path):
    async with worked(tmp_path) as (worker, lineup):
        worker.writer = SimpleNamespace(stalled_seconds=4.0, broken=worker.writer.broken)
        with pytest.raises(EnvironmentUnusable, match="has waited for 4 s to be written, so no run can be accepted"):
            await worker.submit_run(ordered(worker, lineup))
        assert worker.list_unended_runs() == []


@pytest.mark.parametrize("steps", range(5))
async def test_offers_end_although_they_are_asked_to_look_at_that_moment(steps):
    offers = Offers(
        SimpleNamespace(list_next_runs_to_offer=list), None, SimpleNamespace(version=lambda: 0), lambda: False
    )
    offers.start()
    for _ in range(10):
        await asyncio.sleep(0)
    offers.request_offer_round()
    for _ in range(steps):
        await asyncio.sleep(0)
    async with asyncio.timeout(5):
        await offers.close()
