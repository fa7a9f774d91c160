"""Commands to a run, waiting in the database for whichever process works on it."""

import asyncio
from contextlib import suppress

from sqlalchemy import Engine
from sqlmodel import Session

from app.events.command import Command
from app.store import queries
from app.store.db import AWAY

LOOK_EVERY = 0.2


class StoredInbox:
    def __init__(self, database: Engine, run: str) -> None:
        self._database = database
        self._run = run

    async def waiting(self) -> list[Command]:
        try:
            return await asyncio.to_thread(self._waiting)
        except AWAY:
            return []  # asked again in a moment

    def _waiting(self) -> list[Command]:
        with Session(self._database) as session:
            rows = queries.take_commands(session, self._run)
            return [
                Command(row.id or 0, row.verb, row.by, row.reason, row.approval, row.actions, row.via) for row in rows
            ]

    async def close(self, command: Command) -> None:
        with suppress(*AWAY):  # seen again, it means nothing any more
            await asyncio.to_thread(self._close, command.id)

    def _close(self, command: int) -> None:
        with Session(self._database) as session, session.begin():
            queries.close_commands(session, [command])

    async def pause(self) -> None:
        await asyncio.sleep(LOOK_EVERY)
