"""The newest word of every engine and GPU."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from app.engines.fit.reckoned import Fit
from app.events.kinds import EngineSampled, EngineState, GpuSampled
from app.events.record import Recorded
from app.lineups.model import Lineup
from app.machine.sampling.memory import KnownEngines, LoadedMemory


@dataclass
class Board:
    states: dict[str, tuple[float, EngineState]] = field(default_factory=dict)
    engines: dict[str, tuple[float, EngineSampled]] = field(default_factory=dict)
    gpus: dict[tuple[str, int], tuple[float, GpuSampled]] = field(default_factory=dict)
    """By host, empty for this one, and number."""
    gpu_reason: str = ""
    """Why GPU figures are missing or not what the line-up means, in sentences; empty when nothing is amiss."""
    exporters: dict[str, str] = field(default_factory=dict)
    """Host to the DCGM exporter that tells of it."""
    fits: dict[str, Fit] = field(default_factory=dict)
    """What each engine is reckoned to take."""
    loaded: dict[str, LoadedMemory] = field(default_factory=dict)
    """What each engine's own log said that it took."""
    shown_at: float = field(default_factory=time.monotonic)
    _drawn: tuple[int, str] = (0, "")

    def shown(self) -> "Board":
        """For whoever shows it to somebody: while that goes on, it is kept fresh."""
        self.shown_at = time.monotonic()
        return self

    def drawn(self, draw: Callable[[], str]) -> str:
        """What a page makes of it, made anew once a second, however many look."""
        self.shown_at = time.monotonic()
        second = int(time.time())
        if self._drawn[0] != second:
            self._drawn = second, draw()
        return self._drawn[1]

    def known(self, lineup: Lineup) -> KnownEngines:
        states = {name: event for name, (_, event) in self.states.items()}
        tokens = {name: event.kv_tokens for name, (_, event) in self.engines.items() if event.kv_tokens}
        return KnownEngines(lineup, states, self.loaded, self.fits, tokens)

    def take(self, batch: Sequence[Recorded]) -> None:
        for recorded in batch:
            match recorded.event:
                case EngineState() as event:
                    self.states[event.engine] = (recorded.at, event)
                case EngineSampled() as event:
                    self.engines[event.engine] = (recorded.at, event)
                case GpuSampled() as event:
                    self.gpus[event.host, event.gpu] = (recorded.at, event)
