"""A task beside all others: it goes on whatever a round meets, and ends when it is closed."""

import asyncio
import logging

from sqlalchemy.exc import OperationalError

from app.store.periodic_background_task_base import PeriodicTask


class Three(PeriodicTask):
    name, every, consequence = "looks", 0.0, "nobody looks"

    def __init__(self):
        self.met = [OperationalError("select 1", {}, Exception("the disk is full\nand more")), KeyError("x")]
        self.looked = asyncio.Event()

    async def _run_once(self):
        if self.met:
            raise self.met.pop(0)
        self.looked.set()


async def test_whatever_a_round_meets_there_is_another(caplog):
    rounds = Three()
    rounds.start()
    async with asyncio.timeout(20):
        await rounds.looked.wait()
    await rounds.close()
    told = [(one.levelno, one.getMessage()) for one in caplog.records]
    assert told == [
        (logging.WARNING, "nobody looks: the disk is full"),
        (logging.ERROR, "looks failed with an internal error"),
    ]


async def test_it_ends_when_it_is_closed_begun_or_not():
    rounds = Three()
    await rounds.close()
    rounds.start()
    await rounds.close()
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "looks"]
