"""How fast one stream can be at most: every token reads every weight once, and its own KV cache."""

from dataclasses import replace

from app.engines.fit.precision import mlp_bits
from app.engines.fit.rules import Rules
from app.engines.fit.shape import Shape
from app.engines.fit.stages import stages_of
from app.engines.fit.weights import Split, Weights, attention_held, attention_read, weights_by_stage
from app.lineup import Precision

GB = 1e9


def weights_read(shape: Shape, precision: Precision, split: Split, rules: Rules) -> float:
    """Bytes for one token from the memory of one GPU after the other: tensor-parallel ones read at the same time,
    pipeline stages one by one. Tables are looked up, towers and drafter do not take part.
    """
    stages = weights_by_stage(shape, precision, replace(split, drafter=0), rules)
    held = stages_of(len(shape.layers), split.pp)
    return sum(_stage(shape, precision, split, rules, *both) for both in zip(stages, held, strict=True)) + _head(
        shape, stages[-1]
    )


def _stage(shape: Shape, precision: Precision, split: Split, rules: Rules, stage: Weights, held: range) -> float:
    layers = [shape.layers[index] for index in held]
    present = sum(attention_held(shape, layer, split, rules) for layer in layers)
    needed = sum(attention_read(shape, layer, split) for layer in layers)
    attention = stage.attention * needed / present
    return stage.mlp + _experts(shape, precision, split, held) + attention + stage.per_layer_projections + stage.norms


def _experts(shape: Shape, precision: Precision, split: Split, held: range) -> float:
    width = mlp_bits(precision, shape) / 8
    each = sum(3 * shape.hidden * shape.layers[index].expert_intermediate for index in held)
    return width * shape.experts_per_token * each / split.tp


def _head(shape: Shape, last: Weights) -> float:
    return last.embeddings if shape.tied else last.head


def kv_read(shape: Shape, split: Split, element: int, context: int) -> float:
    """Bytes of KV cache that one token reads with so many tokens before it, one GPU after the other."""
    total = 0
    for layer in shape.layers:
        seen = min(context, shape.window or context) if layer.kind == "sliding" else context
        total += 2 * seen * split.kv_heads(layer) * layer.head_dim * element
    return total
