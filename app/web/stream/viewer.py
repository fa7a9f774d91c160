"""One who watches: a cursor and the way to its socket, never a queue."""

import asyncio
from collections.abc import Awaitable, Coroutine, Generator, MutableMapping
from types import coroutine
from typing import Any

from starlette.types import Send


def body(content: bytes, *, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


class Viewer:
    def __init__(self, send: Send) -> None:
        self.after = 0
        self._send = send
        self._woken = asyncio.Event()
        self._rest: Awaitable[None] | None = None

    async def write(self, content: bytes) -> None:
        if content:
            await self._send(body(content))

    def step(self, shared: MutableMapping[str, Any], upto: int) -> bool:
        """Write without waiting. False when the socket is full: what is left is for the viewer's own task."""
        self.after = upto
        self._rest = begin(self._send(shared))
        if self._rest:
            self.wake()
        return self._rest is None

    def wake(self) -> None:
        self._woken.set()

    async def parted(self) -> None:
        """Return once the hub no longer steps this viewer, with its socket writable again."""
        await self._woken.wait()
        self._woken.clear()
        rest, self._rest = self._rest, None
        if rest:
            await rest


def begin(sending: Awaitable[None]) -> Awaitable[None] | None:
    """Run a send up to its first wait: most never wait, and a task for each would cost more than the write."""
    assert isinstance(sending, Coroutine)
    try:
        blocked = sending.send(None)
    except StopIteration:
        return None
    except Exception as exc:  # noqa: BLE001  it is the viewer's, and must not end the others' stream
        return _failed(exc)
    return _finish(sending, blocked)


@coroutine
def _finish(sending: Coroutine[Any, Any, None], blocked: Any) -> Generator[Any, Any, None]:
    try:
        yield blocked
    except BaseException as exc:
        sending.throw(exc)
        raise
    yield from sending  # a coroutine that has begun cannot be awaited, only carried on


async def _failed(exc: Exception) -> None:
    raise exc
