"""Write to a socket directly, bypassing application and transport while neither has buffered data."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol


class WritableConnection(Protocol):
    def can_write_directly(self) -> bool:
        """Return True if a response is under way and the kernel has taken all of it so far."""

    def try_write_chunk(self, chunk: bytes) -> bool: ...


class DirectSocketWriter:
    """One per connection. `write` is the bare system call, because a stream writes to hundreds of sockets in a row."""

    __slots__ = ("_direct", "_line", "_sends", "write")

    def __init__(self, line: WritableConnection, descriptor: int) -> None:
        self._line, self._sends = line, 0
        self._direct: Callable[[bytes], int] = partial(os.write, descriptor)
        self.write: Callable[[bytes], int] = _write_nothing
        """Returns the number of bytes written; raises what the system call raises."""
        self._select_write_method()

    def buffer_rest(self, rest: bytes) -> bool:
        """Hand the unwritten rest to the transport. Return False if its buffer is full."""
        kept = self._line.try_write_chunk(rest)
        self._select_write_method()
        return kept

    @contextmanager
    def pause_direct_writes(self) -> Iterator[None]:
        """Disable direct writes while the application sends, so that nothing overtakes it."""
        self._sends += 1
        self.write = _write_nothing
        try:
            yield
        finally:
            self._sends -= 1
            self._select_write_method()

    def discard_writes_after_connection_loss(self) -> None:
        """The connection is gone: its file descriptor may be reused."""
        self._direct = self.write = _write_nothing

    def _select_write_method(self) -> None:
        self.write = _write_nothing if self._sends or not self._line.can_write_directly() else self._direct


def _write_nothing(_chunk: bytes) -> int:
    return 0
