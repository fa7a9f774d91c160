"""Open requests and last reports of replicas: which one is least loaded, and whether it can take one more turn."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count


@dataclass(frozen=True)
class ReplicaCapacity:
    """Reported capacity of one replica. A value of None is unknown and limits nothing."""

    streams: int | None = None
    """Concurrent requests: max_num_seqs, or fewer if a probe found that more bring no throughput."""
    kv_tokens: int | None = None
    kv_used: int | None = None
    """KV tokens in use at the last sample, ours and those of others."""
    others: int = 0
    """Requests of other processes."""
    nodes: int = 1
    """Processes that share the replica, each with its own queue."""


@dataclass(frozen=True)
class ReplicaLoad:
    """This process's load on a replica. A turn counts its prompt and its maximum answer."""

    turns: int = 0
    tokens: int = 0
    unseen: int = 0
    """Tokens of turns that began after the last sample."""


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
    written: Counter[str] = field(default_factory=Counter)
    """Tokens of answers to this process, by its own count."""
    reports: dict[str, ReplicaReport] = field(default_factory=dict)
    unhealthy: set[str] = field(default_factory=set)
    unavailable: set[str] = field(default_factory=set)
    """Base URLs that cannot answer: loading or gone."""
    _open: dict[int, OpenRequest] = field(default_factory=dict)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))
    newest: int = 0

    def rank_replica_indexes_by_health_and_load(self, bases: Sequence[str]) -> list[int]:
        """Return replica indices, the best one first: healthy, then least loaded, then first named."""
        return sorted(range(len(bases)), key=lambda place: (*self._rank_replica(bases[place]), place))

    def count_requests_of_other_processes(self, base: str) -> int:
        """Return the requests of others at the last report."""
        look = self.reports.get(base, ReplicaReport())
        return max(0, look.requests - look.ours)

    def compute_own_load(self, base: str) -> ReplicaLoad:
        there = {number: one.tokens for number, one in self._open.items() if one.base == base}
        seen = self.reports.get(base, ReplicaReport()).newest
        unseen = sum(tokens for number, tokens in there.items() if number > seen)
        return ReplicaLoad(len(there), sum(there.values()), unseen)

    def begin_request(self, base: str, tokens: int = 0) -> int:
        self.newest = next(self._numbers)
        self._open[self.newest] = OpenRequest(base, tokens)
        self.ours[base] += 1
        return self.newest

    def has_open_requests(self) -> bool:
        return bool(self._open)

    def add_written_tokens(self, base: str, tokens: int) -> None:
        self.written[base] += tokens

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
        return base in self.unhealthy, self.ours[base] + self.count_requests_of_other_processes(base)


def explain_wait(capacity: ReplicaCapacity, load: ReplicaLoad, tokens: int) -> str:
    """Return why a turn of `tokens` must wait, or an empty string if it can start.

    One turn per process always starts: the load of others must not lock this process out, and the engine queues too.
    """
    if not load.turns:
        return ""
    if capacity.streams is not None and (
        load.turns >= max(1, capacity.streams // capacity.nodes) or load.turns + capacity.others >= capacity.streams
    ):
        return f"it answers {capacity.streams} at a time"
    if capacity.kv_tokens is None:
        return ""
    # The maximum is known for our own turns only; the use by others is known from samples.
    if load.tokens + tokens > capacity.kv_tokens // capacity.nodes:
        return f"its KV cache holds {capacity.kv_tokens:,} tokens"
    if capacity.kv_used is not None and capacity.kv_used + load.unseen + tokens > capacity.kv_tokens:
        return f"{capacity.kv_used:,} of its {capacity.kv_tokens:,} KV tokens are in use"
    return ""


def find_stream_limit(max_num_seqs: int | None, knee: int | None) -> int | None:
    known = [one for one in (max_num_seqs, knee) if one]
    return min(known) if known else None
