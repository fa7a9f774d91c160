"""Our open requests and the last report of each replica, used to pick the least loaded one."""

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
    """Tokens of its prompt and of its maximum answer."""


@dataclass(frozen=True)
class ReplicaLook:
    """Last report of a replica, and our share of it."""

    requests: int = 0
    """Running and waiting requests, ours and those of others."""
    ours: int = 0
    kv_tokens: int | None = None
    kv_used: int | None = None
    newest: int = 0
    """Number of our last request that began before the report."""


@dataclass
class EngineTraffic:
    """Open requests and reports of all replicas of one process, by base URL."""

    ours: Counter[str] = field(default_factory=Counter)
    looks: dict[str, ReplicaLook] = field(default_factory=dict)
    unwell: set[str] = field(default_factory=set)
    away: set[str] = field(default_factory=set)
    """Base URLs that cannot answer: loading or gone."""
    _open: dict[int, OpenRequest] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    newest: int = 0

    def least(self, bases: Sequence[str]) -> int:
        """Return the index of the replica to use: healthy first, then least loaded, then first."""
        return self.order(bases)[0]

    def order(self, bases: Sequence[str]) -> list[int]:
        """Return replica indices, the best one first."""
        return sorted(range(len(bases)), key=lambda place: (*self._burden(bases[place]), place))

    def foreign(self, base: str) -> int:
        """Return the requests of others at the last report."""
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
