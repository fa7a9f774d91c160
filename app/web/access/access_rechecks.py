"""Requests being answered, from first byte to last, and the recheck of their rights in one query for all."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from starlette.types import Message, Receive

from app.people.rights import AccessNeeds, Person, is_admitted
from app.store.db import DATABASE_UNAVAILABLE
from app.store.periodic_background_task_base import PeriodicTask
from app.web.access.authenticator import Authenticator

KEY = "temper.visit"
GONE: Message = {"type": "http.disconnect"}
EVERY = 0.4
"""Seconds. Together with the query, an ended right stops a response within one second on every node."""


@dataclass(eq=False)
class RequestContext:
    person: Person | None
    since: float
    needs: AccessNeeds | None = None
    """Set by the guard of the matched route."""
    run: str | None = None
    refused: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the person's right ends while the response is still being sent."""

    async def receive_or_disconnect(self, receive: Receive) -> Message:
        """Receive the next message, or a disconnect once the right has ended."""
        if self.over.is_set():
            return GONE
        heard, over = asyncio.ensure_future(receive()), asyncio.ensure_future(self.over.wait())
        try:
            await asyncio.wait({heard, over}, return_when=asyncio.FIRST_COMPLETED)
            return GONE if self.over.is_set() else heard.result()
        finally:
            heard.cancel()
            over.cancel()


class AccessRechecks(PeriodicTask):
    name = "rechecks"
    every = EVERY

    def __init__(self, credentials: Authenticator) -> None:
        self._credentials = credentials
        self._visits: set[RequestContext] = set()
        self._came = asyncio.Event()

    @contextmanager
    def track_request(self, visit: RequestContext) -> Iterator[None]:
        self._visits.add(visit)
        self._came.set()
        try:
            yield
        finally:
            self._visits.discard(visit)

    async def end_visits_whose_right_was_lost(self) -> None:
        late = time.monotonic() - EVERY
        staying = [one for one in self._visits if one.since < late and one.person and one.person.credential]
        if not staying:
            return
        known = await self._credentials.read_valid_people_by_credential(
            {one.person.credential for one in staying if one.person}
        )
        for one in staying:
            if not _is_still_allowed(one, known):
                one.over.set()

    async def _run_once(self) -> None:
        with suppress(*DATABASE_UNAVAILABLE):  # without a database no right can be ended either
            await self.end_visits_whose_right_was_lost()

    async def _wait_for_next(self) -> None:
        self._came.clear()
        if not self._visits:
            await self._came.wait()
        await super()._wait_for_next()


def _is_still_allowed(visit: RequestContext, valid_people_by_credential: dict[str, Person]) -> bool:
    person = valid_people_by_credential.get(visit.person.credential) if visit.person else None
    return person is not None and (visit.needs is None or is_admitted(visit.needs, person, visit.run))
