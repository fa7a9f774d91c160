"""Access state of one request, from its first byte to its last."""

import asyncio
from dataclasses import dataclass, field

from starlette.types import Message, Receive, Scope

from app.people.rights import Needs, Person

KEY = "temper.visit"
GONE: Message = {"type": "http.disconnect"}


@dataclass(eq=False)
class Visit:
    person: Person | None
    since: float
    needs: Needs | None = None
    """Set by the guard of the matched route."""
    run: str | None = None
    refused: bool = False
    over: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the person's right ends while the response is still being sent."""

    async def hears(self, receive: Receive) -> Message:
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


def visit_of(scope: Scope) -> Visit:
    visit: Visit = scope[KEY]
    return visit
