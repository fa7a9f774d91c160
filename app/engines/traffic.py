"""Our open requests and the last report of each replica, used to pick the least loaded one."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count

from app.engines.admission import ReplicaLoad


@dataclass(frozen=True)
class OpenRequest:
    base: str
    tokens: int
    """Tokens of its prompt and of its maximum answer."""


@dataclass(frozen=True)
class ReplicaReport:
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
    reports: dict[str, ReplicaReport] = field(default_factory=dict)
    unhealthy: set[str] = field(default_factory=set)
    unavailable: set[str] = field(default_factory=set)
    """Base URLs that cannot answer: loading or gone."""
    _open: dict[int, OpenRequest] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    newest: int = 0

    def choose_replica(self, bases: Sequence[str]) -> int:
        """Return the index of the replica to use: healthy first, then least loaded, then first."""
        return self.rank_replicas(bases)[0]

    def rank_replicas(self, bases: Sequence[str]) -> list[int]:
        """Return replica indices, the best one first."""
        return sorted(range(len(bases)), key=lambda place: (*self._rank_replica(bases[place]), place))

    def count_foreign_requests(self, base: str) -> int:
        """Return the requests of others at the last report."""
        look = self.reports.get(base, ReplicaReport())
        return max(0, look.requests - look.ours)

    def measure_load(self, base: str) -> ReplicaLoad:
        there = {number: one.tokens for number, one in self._open.items() if one.base == base}
        seen = self.reports.get(base, ReplicaReport()).newest
        unseen = sum(tokens for number, tokens in there.items() if number > seen)
        return ReplicaLoad(len(there), sum(there.values()), unseen)

    def begin_request(self, base: str, tokens: int = 0) -> int:
        self.newest = next(self._numbers)
        self._open[self.newest] = OpenRequest(base, tokens)
        self.ours[base] += 1
        return self.newest

    def end_request(self, number: int) -> None:
        self.ours[self._open.pop(number).base] -= 1

    @contextmanager
    def track_request(self, base: str) -> Iterator[None]:
        number = self.begin_request(base)
        try:
            yield
        finally:
            self.end_request(number)

    def _rank_replica(self, base: str) -> tuple[bool, int]:
        return base in self.unhealthy, self.ours[base] + self.count_foreign_requests(base)
