"""Attribute a GPU's memory to engines, from measurements, logs, plans or simulations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.engines.fit.estimate_result import Estimate, Fit
from app.engines.simulator.cold_load_log_and_memory import compute_kv_gib
from app.events.event_field_types import GpuProcess, Provenance
from app.events.kinds import EngineState, GpuSampled
from app.lineups.model import Engine, Lineup
from app.machine.gpus.gpu_processes import OUTSIDE
from app.machine.gpus.memory_waterfall import Amount, Claim, MemoryPart, split_memory

_UP = ("loading", "ready", "degraded", "stalled")
_VLLM = "VLLM::"
"""Prefix of vLLM's process names."""


@dataclass(frozen=True)
class LoadedMemory:
    """Memory per GPU according to an engine's startup log."""

    weights_gib: float | None = None
    kv_gib: float | None = None
    graphs_gib: float | None = None


@dataclass(frozen=True)
class KnownEngines:
    """What is known of the engines besides GPU readings."""

    lineup: Lineup
    states: Mapping[str, EngineState] = field(default_factory=dict)
    loaded: Mapping[str, LoadedMemory] = field(default_factory=dict)
    fits: Mapping[str, Fit] = field(default_factory=dict)
    kv_tokens: Mapping[str, int] = field(default_factory=dict)
    """KV cache size that each engine reports, over all its replicas."""

    def is_up(self, engine: Engine) -> bool:
        state = self.states.get(engine.name)
        return state is not None and state.state in _UP


def attribute_memory(known_engines: KnownEngines, gpu_sample: GpuSampled, gpu_reader: str) -> tuple[MemoryPart, ...]:
    """Return the memory parts, or () if used or total is unknown. `gpu_reader`: reader of the GPU."""
    if gpu_sample.used_gib is None or gpu_sample.total_gib is None:
        return ()
    provenance: Provenance = "simulated" if gpu_sample.simulated else "measured"
    lineup = known_engines.lineup
    engines = [engine for engine in lineup.engines.values() if _uses_sampled_gpu(lineup, engine, gpu_sample)]
    held = [
        _find_engine_processes_and_memory(known_engines, engine, engines, gpu_sample, gpu_reader) for engine in engines
    ]
    mine = {pid for processes, _ in held for pid in processes}
    rest = [one.used_gib for one in gpu_sample.processes if one.pid not in mine and one.used_gib is not None]
    return split_memory(
        Amount(gpu_sample.total_gib, provenance, gpu_reader),
        Amount(gpu_sample.used_gib, provenance, gpu_reader),
        None if gpu_sample.reserved_gib is None else Amount(gpu_sample.reserved_gib, provenance, gpu_reader),
        [
            _build_claim_from_log_or_plan(known_engines, engine, memory)
            for engine, (_, memory) in zip(engines, held, strict=True)
            if memory or known_engines.is_up(engine)
        ],
        Amount(sum(rest), provenance, f"{gpu_reader}, per process") if rest else None,
    )


def _uses_sampled_gpu(lineup: Lineup, engine: Engine, gpu_sample: GpuSampled) -> bool:
    return any(gpu.index in engine.gpus and gpu.key == (gpu_sample.host, gpu_sample.gpu) for gpu in lineup.gpus)


def _find_engine_processes_and_memory(
    known_engines: KnownEngines,
    engine: Engine,
    engines_on_gpu: Sequence[Engine],
    gpu_sample: GpuSampled,
    gpu_reader: str,
) -> tuple[frozenset[int], Amount | None]:
    """Return the engine's processes and the memory they hold."""
    if gpu_sample.simulated:
        alone = gpu_sample.used_gib and len(engines_on_gpu) == 1
        return frozenset(), Amount(gpu_sample.used_gib or 0.0, "simulated", gpu_reader) if alone else None
    own = [one for one in gpu_sample.processes if one.engine == engine.name]
    if own:
        return _collect_pids_and_memory_if_all_known(own, Amount(0, "measured", f"{gpu_reader}, per process"))
    unowned = [one for one in gpu_sample.processes if not one.engine]
    likely = [one for one in unowned if one.name == OUTSIDE or one.name.startswith(_VLLM)]
    if likely and len(engines_on_gpu) == 1 and known_engines.is_up(engine):
        said = f"{gpu_reader}, per process; whose they are is by the line-up, not by pid"
        return _collect_pids_and_memory_if_all_known(likely, Amount(0, "derived", said))
    return frozenset(), None


def _collect_pids_and_memory_if_all_known(
    processes: Sequence[GpuProcess], amount_template: Amount
) -> tuple[frozenset[int], Amount | None]:
    pids = frozenset(one.pid for one in processes)
    if any(one.used_gib is None for one in processes):
        return pids, None
    return pids, Amount(sum(one.used_gib or 0 for one in processes), amount_template.provenance, amount_template.source)


def _build_claim_from_log_or_plan(known_engines: KnownEngines, engine: Engine, held_memory: Amount | None) -> Claim:
    """Build the claim of an engine: from its log, else from its plan."""
    if script := engine.simulation:
        said = "the line-up's simulation"
        weights = Amount(script.weights_gib_per_gpu, "simulated", said)
        return Claim(engine.name, held_memory, weights, Amount(max(compute_kv_gib(script), 0.0), "simulated", said))
    log, fit = known_engines.loaded.get(engine.name, LoadedMemory()), known_engines.fits.get(engine.name)
    return Claim(
        engine.name,
        held_memory,
        _to_measured_amount_from_log(log.weights_gib)
        or (_convert_estimate_to_amount(fit.weights_gib_per_gpu) if fit else None),
        _to_measured_amount_from_log(log.kv_gib)
        or (
            _get_pool_scaled_if_tokens_known(fit, known_engines.kv_tokens.get(engine.name), len(engine.replicas))
            if fit
            else None
        ),
        _to_measured_amount_from_log(log.graphs_gib)
        or (_convert_estimate_to_amount(fit.other_gib_per_gpu) if fit else None),
    )


def _get_pool_scaled_if_tokens_known(fit: Fit, reported_tokens: int | None, replicas: int) -> Amount | None:
    """Return the planned KV pool, scaled to the size that the engine reports."""
    pool, planned = _convert_estimate_to_amount(fit.kv_pool_gib_per_gpu), fit.kv_tokens.value
    if pool is None or not reported_tokens or not planned:
        return pool
    said = f"{reported_tokens:,} tokens that the engine reports, at the bytes per token of its plan"
    return Amount(pool.gib * reported_tokens / replicas / planned, "derived", said)


def _to_measured_amount_from_log(gib: float | None) -> Amount | None:
    return None if gib is None else Amount(gib, "measured", "the engine's log")


def _convert_estimate_to_amount(estimate: Estimate) -> Amount | None:
    if estimate.value is None:
        return None
    return Amount(estimate.value, estimate.provenance, f"plan: {estimate.source}")
