"""A simulated cold start: vLLM's log lines with their times, and the memory used by then."""

from collections.abc import Iterator
from dataclasses import dataclass

from app.lineups.model import Engine, Simulation

SHORTENED = 60
"""Factor that turns a cold load of minutes into seconds, at speed 1."""
GRAPHS_GIB = 1.47
"""Measured on the 31B; with OTHER_GIB it is the memory beside weights and KV cache."""
OTHER_GIB = 1.74
_CONTEXT_GIB = 0.5
_LOADED, _PROFILED, _CAPTURED = 0.6, 0.75, 0.95


@dataclass(frozen=True)
class ColdLoadLine:
    at: float
    """Share of the cold load that has passed when the line is logged."""
    text: str


def iterate_lines(engine: Engine, simulation: Simulation) -> Iterator[ColdLoadLine]:
    concurrency = simulation.kv_tokens / engine.max_model_len
    seconds = simulation.cold_load_s
    yield ColdLoadLine(0.0, f"Starting to load model {engine.model}...")
    if engine.precision == "nvfp4":
        yield ColdLoadLine(0.01, "Detected ModelOpt NVFP4 checkpoint. The format is experimental and could change.")
        yield ColdLoadLine(0.02, "Using MarlinNvFp4LinearKernel for NVFP4 GEMM")
    loaded = f"{simulation.weights_gib_per_gpu:g} GiB memory and {seconds * _LOADED:.2f} seconds"
    yield ColdLoadLine(_LOADED, f"Model loading took {loaded}")
    yield ColdLoadLine(_PROFILED, f"Available KV cache memory: {compute_kv_gib(simulation):.2f} GiB")
    yield ColdLoadLine(_PROFILED, f"GPU KV cache size: {simulation.kv_tokens:,} tokens")
    per_request = f"Maximum concurrency for {engine.max_model_len:,} tokens per request"
    yield ColdLoadLine(_PROFILED, f"{per_request}: {concurrency:.2f}x")
    capture = seconds * (_CAPTURED - _PROFILED)
    yield ColdLoadLine(_CAPTURED, f"Graph capturing finished in {capture:.0f} secs, took {GRAPHS_GIB} GiB")
    init = seconds * (0.98 - _LOADED)
    yield ColdLoadLine(0.98, f"init engine (profile, create kv cache, warmup model) took {init:.2f} s")
    yield ColdLoadLine(1.0, "Application startup complete.")


def compute_kv_gib(simulation: Simulation) -> float:
    return simulation.vram_gib_per_gpu - simulation.weights_gib_per_gpu - GRAPHS_GIB - OTHER_GIB


def compute_memory_gib(simulation: Simulation, cold_load_share: float) -> float:
    """Return GiB per GPU at a share of the load: weights grow, the KV pool is allocated at once, graphs come last."""
    weights = simulation.weights_gib_per_gpu * min(cold_load_share / _LOADED, 1.0)
    pool = simulation.vram_gib_per_gpu - simulation.weights_gib_per_gpu - GRAPHS_GIB - _CONTEXT_GIB
    graphs = GRAPHS_GIB * min(max((cold_load_share - _PROFILED) / (_CAPTURED - _PROFILED), 0.0), 1.0)
    return _CONTEXT_GIB + weights + (pool if cold_load_share >= _PROFILED else 0.0) + graphs
