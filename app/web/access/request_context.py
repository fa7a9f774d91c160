"""Access state of one request, from its first byte to its last."""

import asyncio
from dataclasses import dataclass, field

from starlette.types import Message, Receive, Scope

from app.people.rights import AccessNeeds, Person

KEY = "temper.visit"
GONE: Message = {"type": "http.disconnect"}


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


def get_request_context(scope: Scope) -> RequestContext:
    visit: RequestContext = scope[KEY]
    return visit
