"""Receives PostgreSQL notifications of events that other nodes wrote."""

import asyncio
import logging

import psycopg
from sqlalchemy import Engine

from app.events.bus import Bus
from app.store.event_batch_writer import CHANNEL
from app.store.events import EventStore
from app.store.periodic_background_task_base import BackgroundTask

log = logging.getLogger(__name__)

AGAIN_AFTER = 1.0


class NotificationListener(BackgroundTask):
    name = "notices"

    def __init__(self, engine: Engine, store: EventStore, bus: Bus) -> None:
        address = engine.url.set(drivername="postgresql")
        self._address = address.render_as_string(hide_password=False)
        self._store, self._bus = store, bus
        self.listening = asyncio.Event()

    async def _run_forever(self) -> None:
        while True:
            try:
                await self._listen_until_error()
            except psycopg.Error as exc:
                log.warning("no notices of changes by other nodes: %s", str(exc).strip().partition("\n")[0])
            self.listening.clear()
            await asyncio.sleep(AGAIN_AFTER)

    async def _listen_until_error(self) -> None:
        async with await psycopg.AsyncConnection.connect(self._address, autocommit=True) as connection:
            await connection.execute(f"listen {CHANNEL}")
            for run in list(self._bus.newest):  # events written while not listening
                self._bus.notify_external(run, await asyncio.to_thread(self._store.read_newest_seq, run))
            self.listening.set()
            async for notice in connection.notifies():
                run, _, seq = notice.payload.partition(" ")
                self._bus.notify_external(run, int(seq))
