"""Count the bytes that one token reads: every weight once, and its own KV cache."""

from app.engines.fit.precision import compute_attention_bits, compute_mlp_bits
from app.engines.fit.rules import VllmRules
from app.engines.fit.shape import ModelShape
from app.engines.fit.weights import GpuSplit, compute_stage_weights, count_read_attention
from app.lineups.model import Precision

GB = 1e9


def count_weight_bytes(shape: ModelShape, precision: Precision, split: GpuSplit, rules: VllmRules) -> float:
    """Return the weight bytes read per token. Tensor-parallel GPUs read at the same time, pipeline stages one by one.

    Embedding tables, towers and drafter are not read.
    """
    stages = compute_stage_weights(shape, precision, split, rules)
    always = sum(stage.mlp + stage.per_layer_projections + stage.norms for stage in stages)
    head = stages[-1].embeddings if shape.tied else stages[-1].head
    attention = (
        compute_attention_bits(precision, shape)
        / 8
        * sum(count_read_attention(shape, layer, split) for layer in shape.layers)
    )
    return always + head + attention + _count_expert_bytes(shape, precision, split)


def _count_expert_bytes(shape: ModelShape, precision: Precision, split: GpuSplit) -> float:
    each = sum(3 * shape.hidden * layer.expert_intermediate for layer in shape.layers)
    return compute_mlp_bits(precision, shape) / 8 * shape.experts_per_token * each / split.tp


def count_kv_bytes(shape: ModelShape, split: GpuSplit, element: int, context: int) -> float:
    """Return the KV cache bytes that one token reads after `context` tokens, pipeline stages one by one."""
    total = 0
    for layer in shape.layers:
        seen = min(context, shape.window or context) if layer.kind == "sliding" else context
        total += 2 * seen * split.count_kv_heads(layer) * layer.head_dim * element
    return total
