"""How an engine that Temper started was loaded: idle memory, seconds per phase, figures from its log."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from app.engines.cold_start_progress import ColdStart
from app.engines.launch.engine_fleet import Fleet
from app.engines.launch.launched_replica import LaunchedReplica
from app.machine.gpus.host_memory import RESIDENT_SOURCE, find_resident_gib
from app.machine.measuring.probe_figures import Measured

_FROM_LOG = (
    ("weights_gib_per_gpu", "GiB", "weights loaded"),
    ("kv_pool_gib_per_gpu", "GiB", "memory profiled"),
    ("graphs_gib_per_gpu", "GiB", "graphs captured"),
    ("kv_tokens", "tokens", "KV cache laid out"),
    ("max_concurrency", "", "concurrency known"),
)
_LAST = "server up"


@dataclass(frozen=True)
class EngineLoad:
    cold: ColdStart
    seconds: float | None = None
    """From start to serving, if observed; otherwise the log is used."""
    idle_gib: Mapping[int, float] = field(default_factory=dict)
    """GPU of the line-up to the memory that other processes held before."""
    pid: int | None = None
    """Set for an engine on the CPU."""

    def list_figures(self) -> Iterator[Measured]:
        if self.seconds is not None:
            yield Measured("load_s", self.seconds, "s", "measured", "from its start until it served, by Temper's clock")
        elif up := next((step.at for step in self.cold.steps if step.name == _LAST), None):
            yield Measured("load_s", up, "s", "measured", "from its start until its log said that it was up")
        before = 0.0
        for step in self.cold.steps:
            name, seconds = f"load_s.{step.name}", step.at - before
            yield Measured(name, seconds, "s", "measured", "since the line before it in its log")
            before = step.at
        for gpu, value in sorted(self.idle_gib.items()):
            yield Measured(f"idle_gib.{gpu}", value, "GiB", "measured", "NVML, before it was started")
        if self.pid is not None and (held := find_resident_gib(self.pid)) is not None:
            yield Measured("resident_gib", held, "GiB", "measured", f"{RESIDENT_SOURCE}, after the last answer")
        for name, unit, step_name in _FROM_LOG:
            if (found := self.cold.find_figure(step_name)) is not None:
                yield Measured(name, found, unit, "measured", f"its own log: {step_name}")


def collect_loads(launched: Fleet) -> dict[tuple[str, int], EngineLoad]:
    """Return the loads of all engines that this process started or took over."""
    return {(one.engine.name, one.replica): create_engine_load(one) for ones in launched.values() for one in ones}


def create_engine_load(
    launched_replica: LaunchedReplica, seconds: float | None = None, idle_gib: Mapping[int, float] | None = None
) -> EngineLoad:
    pid = launched_replica.pid if launched_replica.engine.is_on_cpu else None
    return EngineLoad(launched_replica.cold, seconds, idle_gib or {}, pid)
