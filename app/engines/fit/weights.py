"""Bytes of weights on one GPU by part, as vLLM 0.19 to 0.33 allocates them.

Linear layers and vocabulary rows, padded to 64, are split over the tensor-parallel GPUs. Every GPU holds the norms,
towers, rotary tables and small per-layer projections in full. Key and value heads are repeated if there are fewer than
GPUs. Every pipeline stage of Gemma 4 holds the embeddings.
"""

import math
from dataclasses import dataclass, fields

from app.engines.fit.model_shape_types import Layer, ModelShape, split_stages
from app.engines.fit.vllm_versions import VllmRules
from app.engines.fit.weight_bits import BF16, compute_attention_bits, compute_bits_per_mlp_weight
from app.lineups.model import Precision

VOCAB_PADDING = 64


@dataclass(frozen=True)
class Weights:
    mlp: float = 0
    experts: float = 0
    attention: float = 0
    embeddings: float = 0
    per_layer_tables: float = 0
    per_layer_projections: float = 0
    head: float = 0
    norms: float = 0
    rope: float = 0
    towers: float = 0
    drafter: float = 0

    @property
    def total(self) -> float:
        parts: list[float] = [getattr(self, field.name) for field in fields(self)]
        return sum(parts)


@dataclass(frozen=True)
class GpuSplit:
    tp: int
    pp: int = 1
    text_only: bool = False
    drafter: float = 0
    """Total bytes of the drafter."""

    def count_kv_heads(self, layer: Layer) -> int:
        return max(1, layer.kv_heads // self.tp)


def compute_weights_per_stage(
    shape: ModelShape, precision: Precision, split: GpuSplit, rules: VllmRules
) -> tuple[Weights, ...]:
    stages = split_stages(len(shape.layers), split.pp)
    return tuple(
        _compute_weights_of_stage(shape, precision, split, rules, stage, number) for number, stage in enumerate(stages)
    )


def _compute_weights_of_stage(
    shape: ModelShape, precision: Precision, split: GpuSplit, rules: VllmRules, layer_indexes: range, stage: int
) -> Weights:
    layers = [shape.layers[index] for index in layer_indexes]
    first, last = stage == 0, stage == split.pp - 1
    rows = math.ceil(shape.vocab / VOCAB_PADDING) * VOCAB_PADDING / split.tp
    in_mlp, in_attention = (
        compute_bits_per_mlp_weight(precision, shape) / 8,
        compute_attention_bits(precision, shape) / 8,
    )
    embeds = shape.is_gemma4 or first or (last and shape.tied)
    towers = 0 if split.text_only or shape.towers is None else shape.towers.parameters
    return Weights(
        mlp=in_mlp * sum(3 * shape.hidden * layer.intermediate for layer in layers) / split.tp,
        experts=sum(_compute_expert_bytes(shape, layer, in_mlp, split.tp) for layer in layers),
        attention=in_attention * sum(count_held_attention(shape, layer, split, rules) for layer in layers),
        embeddings=2 * rows * shape.hidden if embeds else 0,
        per_layer_tables=2 * _count_per_layer_table_rows(shape, split.tp) * shape.summed_width_of_per_layer_inputs,
        per_layer_projections=in_attention * _count_per_layer_embedding_projections(shape, len(layers), split.tp),
        head=2 * rows * shape.hidden if last and not shape.tied else 0,
        norms=2 * sum(_count_norms(shape, layer) for layer in layers),
        rope=2 * shape.positions * sum(shape.rope_dims),
        towers=2 * towers,
        drafter=split.drafter / split.tp if last else 0,
    )


def count_held_attention(shape: ModelShape, layer: Layer, split: GpuSplit, rules: VllmRules) -> float:
    """Return the attention parameters held in memory. If K equals V, vLLM holds the matrix twice."""
    kv = 0 if layer.shares_kv and rules.shared_layers_drop_kv else 2
    return _count_attention(shape, layer, split, kv)


def count_read_attention_parameters(shape: ModelShape, layer: Layer, split: GpuSplit) -> float:
    """Return the attention parameters read per token, each matrix once."""
    kv = 0 if layer.shares_kv else 1 if layer.k_is_v else 2
    return _count_attention(shape, layer, split, kv)


def _count_attention(shape: ModelShape, layer: Layer, split: GpuSplit, kv_matrices: int) -> float:
    queries = 2 * shape.heads / split.tp  # the projection in and the one out
    return shape.hidden * layer.head_dim * (queries + kv_matrices * split.count_kv_heads(layer))


def _compute_expert_bytes(shape: ModelShape, layer: Layer, bytes_per_weight: float, tp: int) -> float:
    if not layer.expert_intermediate:
        return 0
    each = 3 * shape.hidden * layer.expert_intermediate
    return shape.experts * (bytes_per_weight * each / tp + BF16 / 8 * shape.hidden)


def _count_per_layer_table_rows(shape: ModelShape, tp: int) -> float:
    return math.ceil(shape.per_layer_vocab / VOCAB_PADDING) * VOCAB_PADDING / tp


def _count_per_layer_embedding_projections(shape: ModelShape, layer_count: int, tp: int) -> float:
    return (
        shape.per_layer_input * shape.hidden * 2 * layer_count
        + shape.hidden * shape.summed_width_of_per_layer_inputs / tp
    )


def _count_norms(shape: ModelShape, layer: Layer) -> int:
    of_heads = 2 * layer.head_dim if shape.norms_heads else 0
    return (shape.norms_per_layer + bool(shape.per_layer_input)) * shape.hidden + of_heads
