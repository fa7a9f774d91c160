"""Write to a socket directly, bypassing application and transport while neither has buffered data."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol


class Line(Protocol):
    def clear(self) -> bool:
        """Return True if a response is under way and the kernel has taken all of it so far."""

    def push(self, chunk: bytes) -> bool: ...


class StraightWay:
    """One per connection. `write` is the bare system call, because a stream writes to hundreds of sockets in a row."""

    __slots__ = ("_direct", "_line", "_sends", "write")

    def __init__(self, line: Line, descriptor: int) -> None:
        self._line, self._sends = line, 0
        self._direct: Callable[[bytes], int] = partial(os.write, descriptor)
        self.write: Callable[[bytes], int] = _nothing
        """Returns the number of bytes written; raises what the system call raises."""
        self._look()

    def keep(self, rest: bytes) -> bool:
        """Hand the unwritten rest to the transport. Return False if its buffer is full."""
        kept = self._line.push(rest)
        self._look()
        return kept

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Disable direct writes while the application sends, so that nothing overtakes it."""
        self._sends += 1
        self.write = _nothing
        try:
            yield
        finally:
            self._sends -= 1
            self._look()

    def end(self) -> None:
        """The connection is gone: its file descriptor may be reused."""
        self._direct = self.write = _nothing

    def _look(self) -> None:
        self.write = _nothing if self._sends or not self._line.clear() else self._direct


def _nothing(_chunk: bytes) -> int:
    return 0
