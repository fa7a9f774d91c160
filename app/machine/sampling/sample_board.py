"""The newest state and samples of every engine and GPU."""

import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.engines.fit.estimate_result import Fit
from app.events.kinds import EngineSampled, EngineState, GpuSampled
from app.events.record import Recorded
from app.lineups.model import Lineup
from app.machine.sampling.memory_attribution import KnownEngines, LoadedMemory

POWER_SECONDS, WAITS_SECONDS, CHANGES = 60.0, 900.0, 30


@dataclass
class Board:
    states: dict[str, tuple[float, EngineState]] = field(default_factory=dict)
    engines: dict[str, tuple[float, EngineSampled]] = field(default_factory=dict)
    gpus: dict[tuple[str, int], tuple[float, GpuSampled]] = field(default_factory=dict)
    """By host (empty for this one) and number."""
    power: dict[tuple[str, int], deque[tuple[float, float]]] = field(default_factory=dict)
    """Power of each GPU over the last minute."""
    waits: dict[str, deque[tuple[float, float]]] = field(default_factory=dict)
    """Times to first token per engine over the last 15 minutes, as sampled here."""
    changes: deque[tuple[float, EngineState]] = field(default_factory=lambda: deque(maxlen=CHANGES))
    """Recent state changes of engines, oldest first."""
    gpu_reason: str = ""
    """Why GPU figures are missing or differ from the line-up, in sentences; empty if they do not."""
    exporters: dict[str, str] = field(default_factory=dict)
    fits: dict[str, Fit] = field(default_factory=dict)
    loaded: dict[str, LoadedMemory] = field(default_factory=dict)
    """Memory of each engine according to its own log."""
    shown_at: float = float("-inf")
    """Monotonic time of the last view; never yet."""
    has_work: Callable[[], bool] = lambda: True
    """Whether a run is unended; the process that works on runs sets it."""
    has_news: Callable[[], bool] = lambda: False
    """Whether a page shows something else that changed: it is rendered again with the next sample."""
    polled_at: float = field(default_factory=time.monotonic)
    """Monotonic time at which engines and GPUs were last looked at; until the first look, when the board was made."""
    polling_since: float | None = None
    """Monotonic time at which the look under way began, or the first of several that an engine delayed."""
    _drawn: tuple[int, str] = (0, "")

    def mark_viewed_and_return_self(self) -> "Board":
        """Mark the board as viewed, which keeps sampling at once a second, and return it."""
        self.shown_at = time.monotonic()
        return self

    def draw_once_a_second(self, draw: Callable[[], str]) -> str:
        """Return what `draw` renders, cached for one second across all viewers."""
        self.shown_at = time.monotonic()
        second = int(time.time())
        if self._drawn[0] != second:
            self._drawn = second, draw()
        return self._drawn[1]

    def collect_engine_knowledge(self, lineup: Lineup) -> KnownEngines:
        states = {name: event for name, (_, event) in self.states.items()}
        tokens = {name: event.kv_tokens for name, (_, event) in self.engines.items() if event.kv_tokens}
        return KnownEngines(lineup, states, self.loaded, self.fits, tokens)

    def apply_batch(self, batch: Sequence[Recorded]) -> None:
        """Apply events, in order of time."""
        for recorded in batch:
            match recorded.event:
                case EngineState() as event:
                    before = self.states.get(event.engine)
                    if before is None or before[1].state != event.state:
                        self.changes.append((recorded.at, event))
                    self.states[event.engine] = (recorded.at, event)
                case EngineSampled() as event:
                    self.engines[event.engine] = (recorded.at, event)
                    if event.ttft_s is not None:
                        waits = self.waits.setdefault(event.engine, deque())
                        _append_recent(waits, recorded.at, event.ttft_s, WAITS_SECONDS)
                case GpuSampled() as event:
                    self.gpus[event.host, event.gpu] = (recorded.at, event)
                    if event.power_w is not None:
                        drawn = self.power.setdefault((event.host, event.gpu), deque())
                        _append_recent(drawn, recorded.at, event.power_w, POWER_SECONDS)


def _append_recent(values: deque[tuple[float, float]], at: float, value: float, seconds: float) -> None:
    values.append((at, value))
    while at - values[0][0] > seconds:
        values.popleft()
