"""Tokens per second by role, from turns in progress in the log, on any node."""

from collections import defaultdict
from dataclasses import dataclass

from app.engines.engine_metrics import SHORTEST
from app.events.kinds import TurnDelta, TurnFinished, TurnInterrupted, TurnStarted
from app.store.events import EventStore

LONGEST = 5.0
"""Seconds after which growth since the last poll is no current rate."""
_WORK = ("turn.started", "turn.delta", "turn.finished", "turn.interrupted")


@dataclass
class _OpenTurn:
    run: str
    engine: str
    role: str
    tokens: int = 0


class RoleRates:
    def __init__(self, store: EventStore) -> None:
        self._store = store
        self._at = float("-inf")
        self._read: dict[str, int] = {}
        """Last seq read of each active run."""
        self._open: dict[str, _OpenTurn] = {}

    def compute_rates_since_last_call(self, now: float) -> dict[str, dict[str, float]]:
        """Return engine to role to rate; empty at the first call and after a long pause. `now` is monotonic."""
        seconds, self._at = now - self._at, now
        grown: dict[tuple[str, str], int] = defaultdict(int)
        runs = self._store.list_started_unended_runs()
        for run in runs:
            self._add_tokens_of_unread_events(run, grown)
        self._read = {run: self._read[run] for run in runs}
        # The end of a run's last turn is not read if the run ended before this look.
        self._open = {name: turn for name, turn in self._open.items() if turn.run in self._read}
        rates: dict[str, dict[str, float]] = defaultdict(dict)
        if SHORTEST <= seconds <= LONGEST:
            for (engine, role), tokens in grown.items():
                rates[engine][role] = round(tokens / seconds, 2)
        return rates

    def _add_tokens_of_unread_events(self, run: str, totals_by_engine_and_role: dict[tuple[str, str], int]) -> None:
        if run not in self._read:
            newest = self._store.read_events_of_kinds_newest_first(run, None, ("turn.started",), 1)
            self._read[run] = newest[0].seq - 1 if newest else 0
        for one in self._store.read_events(run, after=self._read[run], kinds=_WORK):
            self._read[run] = one.seq
            match one.event:
                case TurnStarted() as event:
                    self._open[event.turn] = _OpenTurn(run, event.engine, event.role)
                case TurnDelta() as event if turn := self._open.get(event.turn):
                    totals_by_engine_and_role[turn.engine, turn.role] += max(0, event.tokens - turn.tokens)
                    turn.tokens = event.tokens
                case TurnFinished() | TurnInterrupted() as event:
                    self._open.pop(event.turn, None)
                case _:
                    pass
