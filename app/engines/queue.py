"""A fair queue of turns per engine, which keeps the engine busy without overloading it.

Order: hosts with an applied change first, then the host served longest ago, then first come, first served. A turn never
overtakes one that the engine has no room for yet, so short prompts do not starve a long one.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

from app.engines.replica_choice import EngineTraffic, ReplicaCapacity, ReplicaReport, explain_wait
from app.events.event_field_types import Purpose

URGENCY: dict[Purpose, int] = {"triage": 0, "review": 1, "reflect": 2, "act": 3, "plan": 4}
"""Lower goes first: an applied change is checked before another is planned."""
RECHECK_SECONDS = 1.0
"""Seconds between rechecks of a waiting turn, since an engine can recover without a notification."""
HOSTS_REMEMBERED = 10_000
BOUNDS = (0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
"""Upper bounds of the wait histogram, in seconds."""


@dataclass(frozen=True)
class TurnRequest:
    host: str
    purpose: Purpose
    tokens: int
    """Tokens of its prompt and of its maximum answer."""
    patience: float
    """Seconds to wait for an engine that does not answer."""


@dataclass(eq=False)
class QueuedTurn:
    request: TurnRequest
    bases: Sequence[str]
    queued_at: float
    away_before: float
    called: asyncio.Event = field(default_factory=asyncio.Event)
    number: int = 0
    replica: int = 0
    """Index of the assigned replica, set when the turn is called."""
    waited: float = 0.0
    """Seconds behind other turns, charged to no budget."""
    away: float = 0.0
    """Seconds without any available replica, charged to the turn like a failed request."""


@dataclass(frozen=True)
class QueueStatus:
    waiting: int = 0
    longest: float = 0.0
    """Longest current wait in seconds."""
    why: str = ""
    """Why the first turn waits."""

    def __str__(self) -> str:
        return f"{self.waiting} {'waits' if self.waiting == 1 else 'wait'}, longest {self.longest:.0f} s"


class EngineQueue:
    """Queue of one engine in one process. It separates waiting behind other turns from waiting for the engine."""

    def __init__(
        self,
        traffic: EngineTraffic | None = None,
        streams: Callable[[], int | None] = lambda: None,
        nodes: Callable[[], int] = lambda: 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._traffic = traffic or EngineTraffic()
        self._streams, self._nodes, self._clock = streams, nodes, clock
        self._waiting: list[QueuedTurn] = []
        self._served: OrderedDict[str, int] = OrderedDict()
        self._turns = 0
        self._away, self._looked_at, self._was_away = 0.0, clock(), False
        self._why = ""
        self.waits = [0] * (len(BOUNDS) + 1)
        self.waited = 0.0
        """Total wait of all turns in seconds; `waits` is the histogram."""

    @asynccontextmanager
    async def hold_turn(self, bases: Sequence[str], request: TurnRequest) -> AsyncIterator[QueuedTurn]:
        """Wait for a replica and hold it within the context. A cancelled turn leaves the queue at once."""
        turn = QueuedTurn(request, bases, self._clock(), self._away)
        self._waiting.append(turn)
        try:
            self.call_ready_turns()
            while not turn.called.is_set():
                with suppress(TimeoutError):
                    async with asyncio.timeout(RECHECK_SECONDS):
                        await turn.called.wait()
                self.call_ready_turns()
            yield turn
        finally:
            if turn.number:
                self._traffic.end_request(turn.number)
            else:
                self._waiting.remove(turn)
            self.call_ready_turns()

    @property
    def status(self) -> QueueStatus:
        if not self._waiting:
            return QueueStatus()
        longest = self._clock() - min(turn.queued_at for turn in self._waiting)
        return QueueStatus(len(self._waiting), longest, self._why)

    @property
    def waiting_hosts(self) -> set[str]:
        """The hosts whose turns wait."""
        return {turn.request.host for turn in tuple(self._waiting)}

    def call_ready_turns(self) -> None:
        """Start every waiting turn that a replica has room for."""
        self._update_engine_unavailable_time()
        self._why = ""
        while self._waiting:
            first = min(self._waiting, key=self._rank_turn_by_urgency_fairness_and_arrival)
            place = self._find_replica_index(first)
            if place is None:
                return
            self._let_turn_begin_on_replica(first, place)

    def _rank_turn_by_urgency_fairness_and_arrival(self, turn: QueuedTurn) -> tuple[int, int, float]:
        return URGENCY[turn.request.purpose], self._served.get(turn.request.host, 0), turn.queued_at

    def _find_replica_index(self, turn: QueuedTurn) -> int | None:
        """Return the least loaded replica with room, or None. If no replica is available, let one turn try and fail."""
        order = [
            (place, turn.bases[place]) for place in self._traffic.rank_replica_indexes_by_health_and_load(turn.bases)
        ]
        there = [(place, base) for place, base in order if base not in self._traffic.unavailable]
        for place, base in there:
            self._why = explain_wait(
                self._read_capacity(base), self._traffic.compute_own_load(base), turn.request.tokens
            )
            if not self._why:
                return place
        if there:
            return None
        self._why = "it is not ready"
        asked = any(self._traffic.compute_own_load(base).turns for base in turn.bases)
        patient = self._away - turn.away_before < turn.request.patience
        return None if asked and patient else order[0][0]

    def _read_capacity(self, base: str) -> ReplicaCapacity:
        look = self._traffic.reports.get(base, ReplicaReport())
        others, nodes = self._traffic.count_requests_of_other_processes(base), max(1, self._nodes())
        return ReplicaCapacity(self._streams(), look.kv_tokens, look.kv_used, others, nodes)

    def _let_turn_begin_on_replica(self, turn: QueuedTurn, replica_index: int) -> None:
        self._waiting.remove(turn)
        self._turns += 1
        self._served[turn.request.host] = self._turns
        self._served.move_to_end(turn.request.host)
        while len(self._served) > HOSTS_REMEMBERED:
            self._served.popitem(last=False)
        turn.replica = replica_index
        turn.number = self._traffic.begin_request(turn.bases[replica_index], turn.request.tokens)
        turn.away = self._away - turn.away_before
        turn.waited = max(0.0, self._clock() - turn.queued_at - turn.away)
        self.waited += turn.waited
        self.waits[next((n for n, bound in enumerate(BOUNDS) if turn.waited <= bound), len(BOUNDS))] += 1
        turn.called.set()

    def _update_engine_unavailable_time(self) -> None:
        now = self._clock()
        if self._was_away:
            self._away += now - self._looked_at
        bases = {base for turn in self._waiting for base in turn.bases}
        self._looked_at, self._was_away = now, bool(bases) and bases <= self._traffic.unavailable


class EngineQueues:
    """The queues of one process, by engine name."""

    def __init__(
        self,
        traffic: EngineTraffic,
        streams: Callable[[str], int | None] = lambda _: None,
        nodes: Callable[[str], int] = lambda _: 1,
    ) -> None:
        self.traffic, self._streams, self._nodes = traffic, streams, nodes
        self._of: dict[str, EngineQueue] = {}

    def get_queue(self, engine: str) -> EngineQueue:
        if engine not in self._of:
            self._of[engine] = EngineQueue(self.traffic, lambda: self._streams(engine), lambda: self._nodes(engine))
        return self._of[engine]

    def list_waiting_hosts(self) -> set[str]:
        return {host for queue in tuple(self._of.values()) for host in queue.waiting_hosts}

    def call_ready_turns(self) -> None:
        """Start ready turns of every queue, after new engine samples."""
        for queue in self._of.values():
            queue.call_ready_turns()
