"""Attribute a GPU's memory to engines, from measurements, logs, plans or simulations. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from app.engines.fit.reckoned import Fit, Reckoned
from app.engines.simulator.coldload import kv_gib
from app.events.kinds import EngineState, GpuSampled
from app.events.words import GpuProcess, Provenance
from app.lineups.model import Engine, Lineup
from app.machine.gpus.holders import OUTSIDE
from app.machine.gpus.waterfall import Amount, Claim, MemoryPart, waterfall

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


def memory(known: KnownEngines, event: GpuSampled, source: str) -> tuple[MemoryPart, ...]:
    """Return the memory parts, or () if used or total is unknown. `source`: reader of the GPU."""
    if event.used_gib is None or event.total_gib is None:
        return ()
    provenance: Provenance = "simulated" if event.simulated else "measured"
    engines = [engine for engine in known.lineup.engines.values() if _sits(known.lineup, engine, event)]
    held = {engine.name: _held(known, engine, engines, event, source) for engine in engines}
    mine = {pid for processes, _ in held.values() for pid in processes}
    rest = [one.used_gib for one in event.processes if one.pid not in mine and one.used_gib is not None]
    return waterfall(
        Amount(event.total_gib, provenance, source),
        Amount(event.used_gib, provenance, source),
        None if event.reserved_gib is None else Amount(event.reserved_gib, provenance, source),
        [_claim(known, engine, held[engine.name][1]) for engine in engines if _there(known, engine, held)],
        Amount(sum(rest), provenance, f"{source}, per process") if rest else None,
    )


def _sits(lineup: Lineup, engine: Engine, event: GpuSampled) -> bool:
    return any(gpu.index in engine.gpus and gpu.key == (event.host, event.gpu) for gpu in lineup.gpus)


def _there(known: KnownEngines, engine: Engine, held: Mapping[str, tuple[object, Amount | None]]) -> bool:
    """Return True if the engine is up or its processes hold memory."""
    state = known.states.get(engine.name)
    return held[engine.name][1] is not None or bool(state and state.state in _UP)


def _held(
    known: KnownEngines, engine: Engine, engines: Sequence[Engine], event: GpuSampled, source: str
) -> tuple[frozenset[int], Amount | None]:
    """Return the engine's processes and the memory they hold."""
    if event.simulated:
        alone = event.used_gib and len(engines) == 1
        return frozenset(), Amount(event.used_gib or 0.0, "simulated", source) if alone else None
    own = [one for one in event.processes if one.engine == engine.name]
    if own:
        return _summed(own, Amount(0, "measured", f"{source}, per process"))
    state = known.states.get(engine.name)
    likely = [one for one in event.processes if not one.engine and _may_be_vllm(one)]
    if likely and len(engines) == 1 and state and state.state in _UP:
        return _summed(
            likely, Amount(0, "derived", f"{source}, per process; whose they are is by the line-up, not by pid")
        )
    return frozenset(), None


def _summed(processes: Sequence[GpuProcess], how: Amount) -> tuple[frozenset[int], Amount | None]:
    pids = frozenset(one.pid for one in processes)
    if any(one.used_gib is None for one in processes):
        return pids, None
    return pids, Amount(sum(one.used_gib or 0 for one in processes), how.provenance, how.source)


def _may_be_vllm(one: GpuProcess) -> bool:
    return one.name == OUTSIDE or one.name.startswith(_VLLM)


def _claim(known: KnownEngines, engine: Engine, held: Amount | None) -> Claim:
    """Build the claim of an engine: from its log, else from its plan."""
    if script := engine.simulation:
        said = "the line-up's simulation"
        weights = Amount(script.weights_gib_per_gpu, "simulated", said)
        return Claim(engine.name, held, weights, Amount(max(kv_gib(script), 0.0), "simulated", said))
    log, fit = known.loaded.get(engine.name, LoadedMemory()), known.fits.get(engine.name)
    return Claim(
        engine.name,
        held,
        _logged(log.weights_gib) or (_planned(fit.weights_gib_per_gpu) if fit else None),
        _logged(log.kv_gib) or (_pool(fit, known.kv_tokens.get(engine.name), len(engine.replicas)) if fit else None),
        _logged(log.graphs_gib) or (_planned(fit.other_gib_per_gpu) if fit else None),
    )


def _pool(fit: Fit, tokens: int | None, replicas: int) -> Amount | None:
    """Return the planned KV pool, scaled to the size that the engine reports."""
    pool, planned = _planned(fit.kv_pool_gib_per_gpu), fit.kv_tokens.value
    if pool is None or not tokens or not planned:
        return pool
    said = f"{tokens:,} tokens that the engine reports, at the bytes per token of its plan"
    return Amount(pool.gib * tokens / replicas / planned, "derived", said)


def _logged(gib: float | None) -> Amount | None:
    return None if gib is None else Amount(gib, "measured", "the engine's log")


def _planned(reckoned: Reckoned) -> Amount | None:
    if reckoned.value is None:
        return None
    return Amount(reckoned.value, reckoned.provenance, f"plan: {reckoned.source}")
