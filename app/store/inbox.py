"""Commands for runs, stored in the database for the process that works on them."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

from sqlalchemy import Engine
from sqlmodel import Session

from app.events.command import Command
from app.store import queries
from app.store.db import AWAY, singly
from app.store.rounds import Rounds

LOOK_EVERY = 0.2


class StoredInbox:
    def __init__(self, database: Engine, run: str, asked: asyncio.Event) -> None:
        """`asked` is set when a command waits for the run."""
        self._database, self._run, self._asked = database, run, asked

    async def waiting(self) -> list[Command]:
        try:
            return await asyncio.to_thread(self._waiting)
        except AWAY:
            return []  # retried soon

    def _waiting(self) -> list[Command]:
        with Session(self._database) as session:
            rows = queries.take_commands(session, self._run)
            return [
                Command(row.id or 0, row.verb, row.by, row.reason, row.approval, row.actions, row.via) for row in rows
            ]

    async def close(self, command: Command) -> None:
        with suppress(*AWAY):  # a command seen again has no effect
            await asyncio.to_thread(self._close, command.id)

    def _close(self, command: int) -> None:
        with Session(self._database) as session, session.begin():
            queries.close_commands(session, [command])

    async def pause(self) -> None:
        await self._asked.wait()
        self._asked.clear()


class Inboxes(Rounds):
    """Polls the commands of all local runs in one query."""

    name, every, without = "commands", LOOK_EVERY, "what is asked of runs is not heard"

    def __init__(self, database: Engine) -> None:
        self._database = database
        self._open: dict[str, asyncio.Event] = {}

    @contextmanager
    def opened(self, run: str) -> Iterator[StoredInbox]:
        asked = self._open[run] = asyncio.Event()
        try:
            yield StoredInbox(self._database, run, asked)
        finally:
            if self._open.get(run) is asked:
                del self._open[run]

    async def look(self) -> None:
        for run in await asyncio.to_thread(self._asked, frozenset(self._open)) if self._open else ():
            if run in self._open:
                self._open[run].set()

    def _asked(self, runs: Collection[str]) -> set[str]:
        with Session(singly(self._database)) as session:
            return queries.runs_asked(session, runs)

    async def _round(self) -> None:
        with suppress(*AWAY):  # retried soon
            await self.look()
