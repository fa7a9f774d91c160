"""Commands for runs, stored in the database for the process that works on them."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress

import msgspec
from sqlalchemy import Engine, bindparam, update
from sqlmodel import Session, col, select

from app.events.person_command import Command
from app.store.database_clock import database_time
from app.store.db import DATABASE_UNAVAILABLE, use_autocommit_if_shared
from app.store.models import CommandRow
from app.store.periodic_background_task_base import PeriodicTask

LOOK_EVERY = 0.2
_WAITING = (
    select(CommandRow)
    .where(col(CommandRow.run) == bindparam("run"), col(CommandRow.taken_at).is_(None))
    .order_by(col(CommandRow.id))
)
"""Built once: it is executed often."""


class StoredInbox:
    def __init__(self, database: Engine, run: str, asked: asyncio.Event) -> None:
        """`asked` is set when a command waits for the run."""
        self._database, self._run, self._asked = database, run, asked
        self._handled: list[int] = []
        """Commands to close. One that is read again may take effect again: a pause after a later resume."""

    async def list_open_commands(self) -> list[Command]:
        try:
            return await asyncio.to_thread(self._list_open_commands)
        except DATABASE_UNAVAILABLE:
            return []  # retried soon

    def _list_open_commands(self) -> list[Command]:
        self._close_handled_commands()
        with Session(self._database) as session:
            rows = session.exec(_WAITING, params={"run": self._run})
            return [msgspec.convert(row, Command, from_attributes=True) for row in rows]

    async def close(self, command: Command) -> None:
        self._handled.append(command.id)
        with suppress(*DATABASE_UNAVAILABLE):  # retried before the next reading
            await asyncio.to_thread(self._close_handled_commands)

    def _close_handled_commands(self) -> None:
        if not self._handled:
            return
        with Session(self._database) as session, session.begin():
            taken = update(CommandRow).where(col(CommandRow.id).in_(self._handled))
            session.execute(taken.values(taken_at=database_time(session)))
        self._handled.clear()

    async def wait_for_commands(self) -> None:
        await self._asked.wait()
        self._asked.clear()


class InboxPoller(PeriodicTask):
    """Polls the commands of all local runs in one query."""

    name, every, consequence = "commands", LOOK_EVERY, "commands to runs are not received"

    def __init__(self, database: Engine) -> None:
        self._database = database
        self._open: dict[str, asyncio.Event] = {}
        self._opened = asyncio.Event()

    @contextmanager
    def open_inbox(self, run: str) -> Iterator[StoredInbox]:
        asked = self._open[run] = asyncio.Event()
        self._opened.set()
        try:
            yield StoredInbox(self._database, run, asked)
        finally:
            if self._open.get(run) is asked:
                del self._open[run]

    async def wake_inboxes_with_commands(self) -> None:
        for run in await asyncio.to_thread(self._find_runs_with_commands, frozenset(self._open)) if self._open else ():
            if run in self._open:
                self._open[run].set()

    def _find_runs_with_commands(self, runs: Collection[str]) -> set[str]:
        with Session(use_autocommit_if_shared(self._database)) as session:
            query = select(CommandRow.run).where(col(CommandRow.run).in_(runs), col(CommandRow.taken_at).is_(None))
            return set(session.exec(query))

    async def _wait_for_next(self) -> None:
        self._opened.clear()
        if not self._open:
            await self._opened.wait()
        await super()._wait_for_next()

    async def _run_once(self) -> None:
        with suppress(*DATABASE_UNAVAILABLE):  # retried soon
            await self.wake_inboxes_with_commands()
