"""An engine's settings with vLLM's defaults for its GPU and version filled in."""

from dataclasses import dataclass

from app.engines.fit.gpu_kinds import has_large_batches, is_cpu, limit_stated_gib_to_cuda_visible
from app.engines.fit.kv_cache import CacheLayer, KvCache, group_layers
from app.engines.fit.model_shape_types import ModelShape, split_stages
from app.engines.fit.vllm_versions import VllmRules, get_vllm_rules
from app.engines.fit.weights import GpuSplit
from app.errors import BadInput
from app.lineups.model import Engine, Gpu, Precision, Speculation

GIB = float(1 << 30)
BLOCK, CPU_BLOCK = 16, 128
KV_BYTES = {"auto": 2, "bfloat16": 2, "float16": 2, "half": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}
DRAFTERS_WITH_CACHE = ("eagle3", "eagle")
"""Drafters that hold one more cache layer; Gemma's MTP drafter reads the model's own cache."""


@dataclass(frozen=True)
class ResolvedSettings:
    shape: ModelShape
    precision: Precision
    split: GpuSplit
    rules: VllmRules
    cpu: bool
    unified: bool
    """The GPU shares the host's memory."""
    gpu_gib: float
    """Memory of the smallest GPU, as CUDA sees it."""
    bandwidth_gb_s: float
    """Bandwidth of the slowest GPU."""
    utilization: float
    kv_element: int
    kv_cache_bytes: int | None
    max_model_len: int
    max_num_seqs: int
    batch_tokens: int
    eager: bool
    speculation: Speculation | None

    @property
    def share_gib(self) -> float:
        """Memory that vLLM may use for weights, activations and KV pool."""
        return self.gpu_gib * self.utilization

    @property
    def cache(self) -> KvCache:
        last = len(self.shape.layers)
        stages = split_stages(last, self.split.pp)
        drafted = self._list_drafter_layers(last)
        layers = [*self._list_cache_layers_without_drafter(), *drafted]
        if drafted:
            stages = (*stages[:-1], range(stages[-1].start, last + 1))
        block = CPU_BLOCK if self.cpu else BLOCK
        return KvCache(group_layers(layers, block, self.rules), self._tokens_in_flight, self.rules, stages)

    @property
    def _tokens_in_flight(self) -> int:
        if not self.rules.batches_overlap:
            return self.batch_tokens
        batches = self.split.pp if self.split.pp > 1 or self.cpu else 2
        return batches * self.batch_tokens

    def _list_cache_layers_without_drafter(self) -> list[CacheLayer]:
        return [
            CacheLayer(
                index=index,
                window=self.shape.window if layer.kind == "sliding" else None,
                heads=self.split.count_kv_heads(layer),
                head_dim=layer.head_dim,
                element=self.kv_element,
            )
            for index, layer in enumerate(self.shape.layers)
            if not layer.shares_kv
        ]

    def _list_drafter_layers(self, layer_index: int) -> list[CacheLayer]:
        """Return the drafter's cache layer, assumed to have the first layer's heads and full attention."""
        if self.speculation is None or self.speculation.method not in DRAFTERS_WITH_CACHE:
            return []
        like = self.shape.layers[0]
        return [CacheLayer(layer_index, None, self.split.count_kv_heads(like), like.head_dim, self.kv_element)]


def resolve_settings(engine: Engine, shape: ModelShape, gpus: tuple[Gpu, ...]) -> ResolvedSettings:
    rules = get_vllm_rules(engine.vllm)
    seqs, tokens = _resolve_max_seqs_and_batched_tokens(engine, shape, gpus[0], rules)
    drafter = engine.speculation.weights_gib * GIB if engine.speculation else 0
    return ResolvedSettings(
        shape=shape,
        precision=engine.precision,
        split=GpuSplit(engine.tp, engine.pp, engine.text_only, drafter),
        rules=rules,
        cpu=is_cpu(gpus[0]),
        unified=any(gpu.unified for gpu in gpus),
        gpu_gib=min(limit_stated_gib_to_cuda_visible(gpu) for gpu in gpus),
        bandwidth_gb_s=min(gpu.bandwidth_gb_s for gpu in gpus),
        utilization=engine.utilization or rules.default_utilization,
        kv_element=_resolve_kv_element_bytes(engine.kv_dtype, shape),
        kv_cache_bytes=engine.kv_cache_bytes,
        max_model_len=engine.max_model_len,
        max_num_seqs=seqs,
        batch_tokens=tokens,
        eager=engine.eager,
        speculation=engine.speculation,
    )


def _resolve_max_seqs_and_batched_tokens(
    engine: Engine, shape: ModelShape, gpu: Gpu, rules: VllmRules
) -> tuple[int, int]:
    """Return max_num_seqs and max_num_batched_tokens as `vllm serve` sets them."""
    if is_cpu(gpu):
        world = engine.tp * engine.pp
        seqs, tokens = 128 * world, 2048 * world
    elif has_large_batches(gpu):
        seqs, tokens = 1024, 16384 if rules.largest_batches and limit_stated_gib_to_cuda_visible(gpu) >= 160 else 8192
    else:
        seqs, tokens = 256, 2048
    seqs = engine.max_num_seqs or seqs
    if engine.max_num_batched_tokens:
        return min(seqs, engine.max_num_batched_tokens), engine.max_num_batched_tokens
    if rules.media_in_one_batch and shape.towers and not engine.text_only:
        tokens = max(tokens, shape.towers.batch_tokens)
    tokens = min(tokens, seqs * engine.max_model_len)
    return seqs if engine.max_num_seqs else min(seqs, tokens), tokens


def _resolve_kv_element_bytes(dtype: str, shape: ModelShape) -> int:
    if dtype == "auto" and shape.quantization and shape.quantization.kv_fp8:
        return 1
    if dtype not in KV_BYTES:
        raise BadInput(f"Temper has no estimate for a KV cache of {dtype!r}: choose one of {', '.join(KV_BYTES)}.")
    return KV_BYTES[dtype]
