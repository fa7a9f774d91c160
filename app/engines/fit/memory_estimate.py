"""Memory estimate of one engine on its GPUs, in GiB on the fullest GPU."""

from dataclasses import dataclass
from functools import cached_property

from app.engines.fit.kv_cache import KvCache
from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.overhead import Overhead, estimate_overhead
from app.engines.fit.resolved_settings import GIB, ResolvedSettings, resolve_settings
from app.engines.fit.weights import Weights, compute_weights_per_stage
from app.lineups.model import Engine, Gpu


@dataclass(frozen=True)
class MemoryEstimate:
    setting: ResolvedSettings
    weights: Weights
    overhead: Overhead
    cache: KvCache

    @property
    def weights_gib(self) -> float:
        return self.weights.total / GIB

    @property
    def profiled_beside_weights_gib(self) -> float:
        """Memory that vLLM subtracts from its share, beside the weights, before it creates the pool."""
        graphs = self.overhead.graphs if self.setting.rules.graphs_counted else 0
        return self.overhead.activations + graphs

    @property
    def left_for_pool_gib(self) -> float:
        """Memory left for the pool; negative if the weights alone do not fit."""
        if self.setting.kv_cache_bytes is not None:
            return self.setting.kv_cache_bytes / GIB
        return self.setting.share_gib - self.weights_gib - self.profiled_beside_weights_gib

    @property
    def pool_gib(self) -> float:
        return max(0.0, self.left_for_pool_gib)

    @cached_property
    def kv_pool_gib_for_longest_request(self) -> float:
        """Pool size for one request of max_model_len."""
        return self.cache.compute_needed_bytes(self.setting.max_model_len) / GIB

    @property
    def held_gib(self) -> float:
        """Memory held while serving, without temporary activations."""
        return self.weights_gib + self.pool_gib + self.overhead.graphs + self.overhead.context

    @property
    def largest_context(self) -> int:
        return self.cache.compute_longest_context(self.left_for_pool_gib * GIB, self.setting.shape.positions)


def estimate_memory(engine: Engine, gpus: tuple[Gpu, ...]) -> MemoryEstimate:
    setting = resolve_settings(engine, load_model_shape(engine.model), gpus)
    stages = compute_weights_per_stage(setting.shape, setting.precision, setting.split, setting.rules)
    fullest = max(stages, key=lambda stage: stage.total)
    return MemoryEstimate(setting, fullest, estimate_overhead(setting), setting.cache)
