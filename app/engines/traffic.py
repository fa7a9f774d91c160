"""Who is busy: our open requests per replica, and what it last said of itself. A turn goes to the least loaded."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass
class EngineTraffic:
    """One per process. Base URLs name the replicas."""

    ours: Counter[str] = field(default_factory=Counter)
    reported: dict[str, int] = field(default_factory=dict)
    """Running and waiting, ours and others', by the newest look."""
    unwell: set[str] = field(default_factory=set)

    def least(self, bases: Sequence[str]) -> int:
        """The place of the replica to ask: a healthy one before all, then the emptiest, then the first."""
        return min(range(len(bases)), key=lambda place: (*self._burden(bases[place]), place))

    def foreign(self, base: str) -> int:
        return max(0, self.reported.get(base, 0) - self.ours[base])

    @contextmanager
    def one_more(self, base: str) -> Iterator[None]:
        self.ours[base] += 1
        try:
            yield
        finally:
            self.ours[base] -= 1

    def _burden(self, base: str) -> tuple[bool, int]:
        return base in self.unwell, self.ours[base] + self.foreign(base)
