"""The newest word of every engine and GPU."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from app.events.kinds import EngineSampled, EngineState, GpuSampled
from app.events.record import Recorded


@dataclass
class Board:
    states: dict[str, tuple[float, EngineState]] = field(default_factory=dict)
    engines: dict[str, tuple[float, EngineSampled]] = field(default_factory=dict)
    gpus: dict[int, tuple[float, GpuSampled]] = field(default_factory=dict)
    gpu_reason: str = ""
    """Why GPU figures are missing, in a sentence; empty when they are all there."""

    def take(self, batch: Sequence[Recorded]) -> None:
        for recorded in batch:
            match recorded.event:
                case EngineState() as event:
                    self.states[event.engine] = (recorded.at, event)
                case EngineSampled() as event:
                    self.engines[event.engine] = (recorded.at, event)
                case GpuSampled() as event:
                    self.gpus[event.gpu] = (recorded.at, event)
