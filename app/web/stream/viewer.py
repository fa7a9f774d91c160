"""One who watches: a cursor and the way to its socket, never a queue."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import coroutine
from typing import Any, Protocol

from starlette.types import Send


def body(content: bytes, *, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


@dataclass(frozen=True)
class Shared:
    """One batch for all who watch, made once: as ASGI has it, and as it goes over the wire."""

    after: int
    upto: int
    message: MutableMapping[str, Any]
    chunk: bytes


def shared(after: int, upto: int, content: bytes) -> Shared:
    return Shared(after, upto, body(content), b"%x\r\n%b\r\n" % (len(content), content))


class WayOut(Protocol):
    """To one socket, past all that stands between, which would cost more than the write."""

    write: Callable[[bytes], int]
    """Says how much went out: nothing while something else must go first."""

    def keep(self, rest: bytes) -> bool:
        """For what `write` left. False: the socket is full, and so is what waits before it."""

    def aside(self) -> AbstractContextManager[None]:
        """Around what is sent by the application."""


class NoWay:
    """Where all goes through the application."""

    def write(self, _chunk: bytes) -> int:
        return 0

    def aside(self) -> AbstractContextManager[None]:
        return nullcontext()


class Viewer:
    __slots__ = ("_rest", "_send", "_woken", "after", "way")

    def __init__(self, send: Send, way: WayOut | None = None) -> None:
        self.after = 0
        """Where it stands, once the hub steps it no longer."""
        self.way = way or NoWay()
        self._send = send
        self._woken = asyncio.Event()
        self._rest: Awaitable[None] | None = None

    async def write(self, content: bytes) -> None:
        if content:
            with self.way.aside():
                await self._send(body(content))

    def step(self, batch: Shared, taken: int) -> bool:
        """All but `taken` bytes, without waiting. False when the socket is full: its own task goes on from here."""
        if isinstance(self.way, NoWay):
            self._rest = begin(self._send(batch.message))
            stepped, self.after = self._rest is None, batch.upto
        else:
            stepped, self.after = self.way.keep(batch.chunk[taken:]), batch.after
        if not stepped:
            self.wake()
        return stepped

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
