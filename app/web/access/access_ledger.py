"""Write what people did, and refused requests, to the audit chain."""

import asyncio
import logging
import time

from sqlalchemy import Engine

from app.events.kinds import PersonDid
from app.store import audit
from app.store.db import AWAY, why
from app.store.rounds import OwnTask
from app.web.access.audit_syslog import AuditSyslog
from app.web.access.tally import Tally

log = logging.getLogger(__name__)

PATIENCE, BETWEEN = 60.0, 0.5
LOOK_EVERY = 5.0


class AccessLedger(OwnTask):
    name = "audit of refusals"

    def __init__(self, database: Engine, syslog: AuditSyslog) -> None:
        self._database, self._syslog = database, syslog
        self._tally = Tally()

    async def close(self) -> None:
        await super().close()
        await self._sums(all_of_them=True)

    async def did(self, event: PersonDid, patience: float = PATIENCE) -> None:
        """Append the event to the audit chain. Retry while the database is away, then log a warning."""
        until = time.monotonic() + patience
        while True:
            try:
                return await asyncio.to_thread(self._note, event)
            except AWAY as exc:
                if time.monotonic() >= until:
                    return log.warning("not on record, since %s: %s by %r", why(exc), event.did, event.who)
            await asyncio.sleep(BETWEEN)

    async def refused(self, event: PersonDid) -> None:
        if first := self._tally.refused(event):
            await self.did(first)

    async def _go_on(self) -> None:
        while True:
            await asyncio.sleep(LOOK_EVERY)
            await self._sums()

    async def _sums(self, *, all_of_them: bool = False) -> None:
        for event in self._tally.over(all_of_them=all_of_them):
            await self.did(event, 0.0 if all_of_them else PATIENCE)

    def _note(self, event: PersonDid) -> None:
        self._syslog.tell(audit.note(self._database, event))
