"""Who is busy: our open requests per replica, and what it last said of itself. A turn goes to the least loaded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from app.engines.admission import Held


@dataclass(frozen=True)
class OpenRequest:
    base: str
    tokens: int
    """That it may come to hold: its prompt and all that it may write."""


@dataclass(frozen=True)
class ReplicaLook:
    """What a replica reported, and what of that was ours."""

    requests: int = 0
    """Running and waiting, ours and others'."""
    ours: int = 0
    kv_tokens: int | None = None
    kv_used: int | None = None
    newest: int = 0
    """The last of our requests that had begun before it was asked."""


@dataclass
class EngineTraffic:
    """One per process. Base URLs name the replicas."""

    ours: Counter[str] = field(default_factory=Counter)
    looks: dict[str, ReplicaLook] = field(default_factory=dict)
    unwell: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    """Not ready to answer at all: it loads, or is gone."""
    _open: dict[int, OpenRequest] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    newest: int = 0

    def least(self, bases: Sequence[str]) -> int:
        """The place of the replica to ask: a healthy one before all, then the emptiest, then the first."""
        return self.order(bases)[0]

    def order(self, bases: Sequence[str]) -> list[int]:
        """Their places, the one to ask first."""
        return sorted(range(len(bases)), key=lambda place: (*self._burden(bases[place]), place))

    def foreign(self, base: str) -> int:
        """Other people's, when it was looked at."""
        look = self.looks.get(base, ReplicaLook())
        return max(0, look.requests - look.ours)

    def held(self, base: str) -> Held:
        there = {number: one.tokens for number, one in self._open.items() if one.base == base}
        seen = self.looks.get(base, ReplicaLook()).newest
        unseen = sum(tokens for number, tokens in there.items() if number > seen)
        return Held(len(there), sum(there.values()), unseen)

    def begin(self, base: str, tokens: int = 0) -> int:
        self.newest = next(self._numbers)
        self._open[self.newest] = OpenRequest(base, tokens)
        self.ours[base] += 1
        return self.newest

    def end(self, number: int) -> None:
        self.ours[self._open.pop(number).base] -= 1

    @contextmanager
    def one_more(self, base: str) -> Iterator[None]:
        number = self.begin(base)
        try:
            yield
        finally:
            self.end(number)

    def _burden(self, base: str) -> tuple[bool, int]:
        return base in self.unwell, self.ours[base] + self.foreign(base)
