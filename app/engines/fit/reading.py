"""Count the bytes that one token reads: every weight once, and its own KV cache."""

from app.engines.fit.precision import attention_bits, mlp_bits
from app.engines.fit.rules import Rules
from app.engines.fit.shape import Shape
from app.engines.fit.weights import Split, attention_read, weights_by_stage
from app.lineups.model import Precision

GB = 1e9


def weights_read(shape: Shape, precision: Precision, split: Split, rules: Rules) -> float:
    """Return the weight bytes read per token. Tensor-parallel GPUs read at the same time, pipeline stages one by one.

    Embedding tables, towers and drafter are not read.
    """
    stages = weights_by_stage(shape, precision, split, rules)
    always = sum(stage.mlp + stage.per_layer_projections + stage.norms for stage in stages)
    head = stages[-1].embeddings if shape.tied else stages[-1].head
    attention = (
        attention_bits(precision, shape) / 8 * sum(attention_read(shape, layer, split) for layer in shape.layers)
    )
    return always + head + attention + _experts(shape, precision, split)


def _experts(shape: Shape, precision: Precision, split: Split) -> float:
    each = sum(3 * shape.hidden * layer.expert_intermediate for layer in shape.layers)
    return mlp_bits(precision, shape) / 8 * shape.experts_per_token * each / split.tp


def kv_read(shape: Shape, split: Split, element: int, context: int) -> float:
    """Return the KV cache bytes that one token reads after `context` tokens, pipeline stages one by one."""
    total = 0
    for layer in shape.layers:
        seen = min(context, shape.window or context) if layer.kind == "sliding" else context
        total += 2 * seen * split.kv_heads(layer) * layer.head_dim * element
    return total
