"""How an engine was loaded, where Temper started it: idle memory, and the seconds of each phase."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.probing.figure import Figure


@dataclass(frozen=True)
class Load:
    seconds: float | None
    phases: tuple[tuple[str, float], ...] = ()
    """Phase to its seconds, in the order they came."""
    idle_gib: Mapping[int, float] = field(default_factory=dict)
    """GPU to the memory that others held before it was started."""
    said: Mapping[str, float] = field(default_factory=dict)
    """What its log said: weights_gib_per_gpu, kv_pool_gib_per_gpu, graphs_gib_per_gpu, kv_tokens."""

    def figures(self) -> list[Figure]:
        source = "from its start to /health, by its log and Temper's clock"
        total = [Figure("load_s", self.seconds, "s", "unsupported" if self.seconds is None else "measured", source)]
        phases = [
            Figure(f"load_s.{name}", seconds, "s", "measured", "between two lines of its log")
            for name, seconds in self.phases
        ]
        idle = [
            Figure(f"idle_gib.{gpu}", value, "GiB", "measured", "NVML, before it was started")
            for gpu, value in sorted(self.idle_gib.items())
        ]
        return [*total, *phases, *idle, *(self._from_log(name, value) for name, value in self.said.items())]

    @staticmethod
    def _from_log(name: str, value: float) -> Figure:
        return Figure(name, value, "GiB" if "gib" in name else "tokens", "measured", "its own log, as it loaded")
