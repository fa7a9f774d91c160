"""Prometheus counters of turns that ended since this process started: durations and tokens."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from threading import Lock

from app.events.bus import Bus
from app.events.kinds import TurnFinished
from app.events.record import ALL, AUDIT, MACHINE
from app.store.events import EventStore

BOUNDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0)
"""Seconds."""


@dataclass
class LatencyHistogram:
    counts: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))
    total: float = 0.0

    def add(self, seconds: float) -> None:
        place = next((place for place, bound in enumerate(BOUNDS) if seconds <= bound), len(BOUNDS))
        self.counts[place] += 1
        self.total += seconds


class TurnCounters:
    """One per application. Reads each run's log on from the last position."""

    def __init__(self, bus: Bus, store: EventStore) -> None:
        self._bus, self._store = bus, store
        self._read = dict(bus.newest)
        self._lock = Lock()
        self.tokens: Counter[str] = Counter()
        self.read_tokens: Counter[str] = Counter()
        self.looped: Counter[str] = Counter()
        "Turns that were cut off because they repeated themselves."
        self.seconds: dict[str, LatencyHistogram] = defaultdict(LatencyHistogram)
        self.waits: dict[str, LatencyHistogram] = defaultdict(LatencyHistogram)
        "Times to the first token."

    def catch_up(self) -> None:
        with self._lock:
            for run, newest in dict(self._bus.newest).items():
                after = self._read.get(run, 0)
                if run in (MACHINE, AUDIT, ALL) or newest <= after:
                    continue
                for one in self._store.read_events(run, after=after, upto=newest, kinds=("turn.finished",)):
                    if isinstance(one.event, TurnFinished):
                        self._add_turn_to_counters_of_role(one.event)
                self._read[run] = newest

    def _add_turn_to_counters_of_role(self, turn: TurnFinished) -> None:
        self.tokens[turn.role] += turn.completion_tokens
        self.read_tokens[turn.role] += turn.prompt_tokens
        self.looped[turn.role] += turn.looped
        self.seconds[turn.role].add(turn.seconds)
        if turn.ttft is not None:
            self.waits[turn.role].add(turn.ttft)
