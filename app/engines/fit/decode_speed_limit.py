"""Maximum speed of one stream by memory bandwidth, without and with speculation."""

from app.engines.fit.estimate_result import Estimate
from app.engines.fit.model_shape_types import ModelShape
from app.engines.fit.resolved_settings import GIB, ResolvedSettings
from app.engines.fit.vllm_versions import VllmRules
from app.engines.fit.weight_bits import compute_attention_bits, compute_bits_per_mlp_weight
from app.engines.fit.weights import GpuSplit, compute_weights_per_stage, count_read_attention_parameters
from app.lineups.model import Precision, Speculation

GB = 1e9


def count_weight_bytes_per_token(shape: ModelShape, precision: Precision, split: GpuSplit, rules: VllmRules) -> float:
    """Return the weight bytes read per token. Tensor-parallel GPUs read at the same time, pipeline stages one by one.

    Embedding tables, towers and drafter are not read.
    """
    stages = compute_weights_per_stage(shape, precision, split, rules)
    always = sum(stage.mlp + stage.per_layer_projections + stage.norms for stage in stages)
    head = stages[-1].embeddings if shape.tied else stages[-1].head
    in_attention = sum(count_read_attention_parameters(shape, layer, split) for layer in shape.layers)
    attention = compute_attention_bits(precision, shape) / 8 * in_attention
    return always + head + attention + _count_read_expert_bytes(shape, precision, split)


def _count_read_expert_bytes(shape: ModelShape, precision: Precision, split: GpuSplit) -> float:
    each = sum(3 * shape.hidden * layer.expert_intermediate for layer in shape.layers)
    return compute_bits_per_mlp_weight(precision, shape) / 8 * shape.experts_per_token * each / split.tp


def count_kv_bytes_read_per_token(shape: ModelShape, split: GpuSplit, element_bytes: int, context: int) -> float:
    """Return the KV cache bytes that one token reads after `context` tokens, pipeline stages one by one."""
    total = 0
    for layer in shape.layers:
        seen = min(context, shape.window or context) if layer.kind == "sliding" else context
        total += 2 * seen * split.count_kv_heads(layer) * layer.head_dim * element_bytes
    return total


def count_read_weight_bytes(setting: ResolvedSettings) -> float:
    return count_weight_bytes_per_token(setting.shape, setting.precision, setting.split, setting.rules)


def estimate_speed_limit(setting: ResolvedSettings) -> Estimate:
    weights, length = count_read_weight_bytes(setting), setting.max_model_len
    cache = count_kv_bytes_read_per_token(setting.shape, setting.split, setting.kv_element, length)
    late = setting.bandwidth_gb_s * GB / (weights + cache)
    return Estimate(
        setting.bandwidth_gb_s * GB / weights,
        "derived",
        f"{setting.bandwidth_gb_s:g} GB/s ÷ {weights / GB:.2f} GB of weights read per token and GPU. "
        f"After {length:,} tokens the KV cache adds {cache / GB:.2f} GB: {late:.1f} tok/s",
    )


def estimate_speculative_speed_at_stated_acceptance(setting: ResolvedSettings) -> Estimate:
    drafting = setting.speculation
    if drafting is None:
        return Estimate(None, "unsupported", "the line-up names no speculation")
    rounds = _compute_rounds_per_second(setting, drafting)
    passes = "once" if drafting.parallel_drafting else f"{drafting.tokens} times"
    words = (
        f"each round reads the weights once and the drafter's {drafting.weights_gib:.2f} GiB {passes}: "
        f"from {rounds:.1f} tok/s, nothing accepted, to {rounds * (drafting.tokens + 1):.1f}, all accepted"
    )
    if drafting.acceptance is None:
        return Estimate(None, "unsupported", f"{words}; the line-up gives no mean acceptance length")
    accepted = min(max(1.0, drafting.acceptance), drafting.tokens + 1)
    where = f" ({drafting.source})" if drafting.source else ""
    return Estimate(rounds * accepted, "estimated", f"{words}; {accepted:g} tokens a round{where}")


def _compute_rounds_per_second(setting: ResolvedSettings, speculation: Speculation) -> float:
    passes = 1 if speculation.parallel_drafting else speculation.tokens
    drafter = speculation.weights_gib * GIB / setting.split.tp * passes
    return setting.bandwidth_gb_s * GB / (count_read_weight_bytes(setting) + drafter)
