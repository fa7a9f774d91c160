"""Straight to a socket, past the application and the transport, while neither of them holds anything back."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Protocol


class Line(Protocol):
    def clear(self) -> bool:
        """An answer is under way, and all that was said of it is with the kernel."""

    def push(self, chunk: bytes) -> bool: ...


class StraightWay:
    """One per connection. Whoever writes to hundreds at once calls `write` of each, which is no code of ours."""

    __slots__ = ("_direct", "_line", "_sends", "write")

    def __init__(self, line: Line, descriptor: int) -> None:
        self._line, self._sends = line, 0
        self._direct: Callable[[bytes], int] = partial(os.write, descriptor)
        self.write: Callable[[bytes], int] = _nothing
        """Says how much of a chunk went out, and fails as the system call does."""
        self._look()

    def keep(self, rest: bytes) -> bool:
        """What `write` left waits in the transport, up to its bound. False: not now."""
        kept = self._line.push(rest)
        self._look()
        return kept

    @contextmanager
    def aside(self) -> Iterator[None]:
        """While somebody sends by the application, nothing may overtake that."""
        self._sends += 1
        self.write = _nothing
        try:
            yield
        finally:
            self._sends -= 1
            self._look()

    def end(self) -> None:
        """The descriptor may be another connection's from here on."""
        self._direct = self.write = _nothing

    def _look(self) -> None:
        self.write = _nothing if self._sends or not self._line.clear() else self._direct


def _nothing(_chunk: bytes) -> int:
    return 0
