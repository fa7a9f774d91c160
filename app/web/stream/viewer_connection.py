"""One viewer of a stream: a position and a socket, no queue."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from types import coroutine
from typing import Any, Protocol

from starlette.types import Send


def create_body_message(content: bytes, *, more: bool = True) -> MutableMapping[str, Any]:
    return {"type": "http.response.body", "body": content, "more_body": more}


@dataclass(frozen=True)
class SharedFrame:
    """One batch for all viewers, encoded once: as an ASGI message and as an HTTP chunk."""

    after: int
    upto: int
    message: MutableMapping[str, Any]
    chunk: bytes


def create_shared_frame_encoded_once(after: int, upto: int, content: bytes) -> SharedFrame:
    return SharedFrame(after, upto, create_body_message(content), b"%x\r\n%b\r\n" % (len(content), content))


class ChunkWriter(Protocol):
    """Direct writes to one socket, bypassing layers that cost more than the write."""

    write: Callable[[bytes], int]
    """Returns the bytes written; 0 while buffered data must go first."""

    def buffer_rest(self, rest: bytes) -> bool:
        """Queue what `write` left. Return False if the socket and its buffer are full."""

    def pause_direct_writes(self) -> AbstractContextManager[None]:
        """Disable direct writes while the application sends."""


class NoChunkWriter:
    """Used when everything goes through the application."""

    def write(self, _chunk: bytes) -> int:
        return 0

    def pause_direct_writes(self) -> AbstractContextManager[None]:
        return nullcontext()


class Viewer:
    __slots__ = ("_rest", "_send", "_woken", "after", "way")

    def __init__(self, send: Send, way: ChunkWriter | None = None) -> None:
        self.after = 0
        """Position, valid once the fanout no longer serves this viewer directly."""
        self.way = way or NoChunkWriter()
        self._send = send
        self._woken = asyncio.Event()
        self._rest: Awaitable[None] | None = None

    async def write(self, content: bytes) -> None:
        if content:
            with self.way.pause_direct_writes():
                await self._send(create_body_message(content))

    def send_rest_of_frame(self, shared_frame: SharedFrame, bytes_written: int) -> bool:
        """Send all but the first `bytes_written` bytes without waiting. Return False if the socket is full."""
        if isinstance(self.way, NoChunkWriter):
            self._rest = start_send(self._send(shared_frame.message))
            stepped, self.after = self._rest is None, shared_frame.upto
        else:
            stepped, self.after = self.way.buffer_rest(shared_frame.chunk[bytes_written:]), shared_frame.after
        if not stepped:
            self.wake()
        return stepped

    def wake(self) -> None:
        self._woken.set()

    async def wait_until_left_out_of_writes(self) -> None:
        """Wait until the fanout no longer serves this viewer directly and its socket is writable."""
        await self._woken.wait()
        self._woken.clear()
        rest, self._rest = self._rest, None
        if rest:
            await rest


def start_send(sending: Awaitable[None]) -> Awaitable[None] | None:
    """Run a send to its first suspension and return the rest, if any. Cheaper than a task: most sends never suspend."""
    assert isinstance(sending, Coroutine)
    try:
        blocked = sending.send(None)
    except StopIteration:
        return None
    except Exception as exc:  # noqa: BLE001  it is the viewer's, and must not end the others' stream
        return _raise_this_error_when_awaited(exc)
    return _finish_send(sending, blocked)


@coroutine
def _finish_send(sending: Coroutine[Any, Any, None], blocked: Any) -> Generator[Any, Any, None]:
    try:
        yield blocked
    except BaseException as exc:
        sending.throw(exc)
        raise
    yield from sending  # a started coroutine cannot be awaited, only delegated to


async def _raise_this_error_when_awaited(exc: Exception) -> None:
    raise exc
