"""Recheck the rights behind requests still being answered, in one query for all of them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.people.rights import Person, admits
from app.store.db import AWAY
from app.store.rounds import OwnTask
from app.web.access.credentials import Credentials
from app.web.access.visit import Visit

EVERY = 0.4
"""Seconds. Together with the query, an ended right stops a response within one second on every node."""


class Rechecks(OwnTask):
    name = "rechecks"

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._visits: set[Visit] = set()
        self._came = asyncio.Event()

    @contextmanager
    def over(self, visit: Visit) -> Iterator[None]:
        self._visits.add(visit)
        self._came.set()
        try:
            yield
        finally:
            self._visits.discard(visit)

    async def look(self) -> None:
        late = time.monotonic() - EVERY
        staying = [one for one in self._visits if one.since < late and one.person and one.person.credential]
        if not staying:
            return
        known = await self._credentials.standing({one.person.credential for one in staying if one.person})
        for one in staying:
            if not _still(one, known):
                one.over.set()

    async def _go_on(self) -> None:
        while True:
            self._came.clear()
            if not self._visits:
                await self._came.wait()
            await asyncio.sleep(EVERY)
            with suppress(*AWAY):  # without a database no right can be ended either
                await self.look()


def _still(visit: Visit, known: dict[str, Person]) -> bool:
    person = known.get(visit.person.credential) if visit.person else None
    return person is not None and (visit.needs is None or admits(visit.needs, person, visit.run))
