"""One who watches: a cursor and the way to its socket, never a queue."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from dataclasses import dataclass
from types import coroutine
from typing import Any

from starlette.types import Send


def body(content: bytes, *, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


@dataclass(frozen=True)
class Shared:
    """One batch for all who watch, made once: as ASGI has it, and as it goes over the wire."""

    message: MutableMapping[str, Any]
    chunk: bytes


def shared(content: bytes) -> Shared:
    return Shared(body(content), b"%x\r\n%b\r\n" % (len(content), content))


Push = Callable[[bytes], bool]
"""Takes a chunk to the socket at once; False where that is full."""


class Viewer:
    def __init__(self, send: Send, push: Push | None = None) -> None:
        """`push`: past all that stands between, which would cost more than the write; None where the line has none."""
        self.after = 0
        self._send, self._push = send, push
        self._woken = asyncio.Event()
        self._rest: Awaitable[None] | None = None

    async def write(self, content: bytes) -> None:
        if content:
            await self._send(body(content))

    def step(self, batch: Shared, upto: int) -> bool:
        """Write without waiting. False when the socket is full: what is left is for the viewer's own task."""
        if self._push:
            if pushed := self._push(batch.chunk):
                self.after = upto
            else:
                self.wake()
            return pushed
        self.after = upto
        self._rest = begin(self._send(batch.message))
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
