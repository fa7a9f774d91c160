"""Estimate memory beside weights and KV pool from a few measurements, scaled by the model's widths."""

from dataclasses import dataclass

from app.engines.fit.resolved_settings import GIB, ResolvedSettings

LOGIT_BYTES = 14
"""Bytes of the profile run's sampler per sequence and vocabulary entry: once at 16 bit and three times at 32.
This reproduces the 31B on L4: 1.14 GiB at tp = 2, and 1.02 at tp = 4 with utilization 0.95."""
GRAPH_BYTES = 0.2917 * (1 << 20)
"""Bytes of one captured graph per layer, from 1.47 GiB for 60 layers and 86 graphs of the 31B on two L4."""
NEW_RUNNER = (0, 25, 0)
"""First version with the new profile run. Its three figures reproduce seven loads on H200s with 0.25.1 within 0.3 GiB:
docs/measurements/engines_h200.md."""
NEW_LOGIT_BYTES = 6
NEW_GRAPH_BYTES = 0.12 * (1 << 20)
ALWAYS_GIB = 0.25
CONTEXT_GIB, NCCL_GIB = 0.45, 0.35
"""Memory outside of vLLM's share: the CUDA context and the NCCL buffers."""
MOST_CAPTURED = 512


@dataclass(frozen=True)
class Overhead:
    """Memory beside weights and KV pool, in GiB on one GPU."""

    activations: float
    graphs: float
    context: float

    @property
    def total(self) -> float:
        return self.activations + self.graphs + self.context


def estimate_overhead(setting: ResolvedSettings) -> Overhead:
    if setting.cpu:
        return Overhead(_estimate_old_profile_run_gib(setting), 0, 0)
    estimate_run = _estimate_profile_run_gib if setting.rules.version >= NEW_RUNNER else _estimate_old_profile_run_gib
    context = CONTEXT_GIB + (NCCL_GIB if setting.split.tp * setting.split.pp > 1 else 0)
    return Overhead(estimate_run(setting), _estimate_graphs_gib(setting), context)


def _estimate_profile_run_gib(setting: ResolvedSettings) -> float:
    """Return the largest of a full batch in the widest layer, a sample for every sequence and, if compiled, the
    temporary copy of the largest table."""
    shape, tp = setting.shape, setting.split.tp
    samples = NEW_LOGIT_BYTES * setting.max_num_seqs * shape.vocab
    table = 0.0 if setting.eager else 2 * shape.vocab / tp * max(shape.hidden, shape.summed_width_of_per_layer_inputs)
    per_layer = 0 if setting.eager else 4 * setting.batch_tokens * shape.summed_width_of_per_layer_inputs
    between = NCCL_GIB if tp * setting.split.pp > 1 else 0
    return (max(_compute_batch_bytes_of_widest_layer(setting), samples, table) + per_layer) / GIB + ALWAYS_GIB + between


def _estimate_old_profile_run_gib(setting: ResolvedSettings) -> float:
    return (
        _compute_batch_bytes_of_widest_layer(setting) + LOGIT_BYTES * setting.max_num_seqs * setting.shape.vocab
    ) / GIB


def _compute_batch_bytes_of_widest_layer(setting: ResolvedSettings) -> float:
    shape, tp = setting.shape, setting.split.tp
    mlp = max(max(layer.intermediate, layer.expert_intermediate * shape.experts_per_token) for layer in shape.layers)
    count_kv_heads = setting.split.count_kv_heads
    attention = max(layer.head_dim * (shape.heads / tp + 2 * count_kv_heads(layer)) for layer in shape.layers)
    return (
        2
        * setting.batch_tokens
        * (4 * shape.hidden + 3 * mlp / tp + attention + shape.summed_width_of_per_layer_inputs)
    )


def count_graphs(setting: ResolvedSettings) -> int:
    """Count CUDA graphs: piecewise ones for every size, full ones for the sizes of decode batches."""
    if setting.eager or setting.cpu:
        return 0
    query = 1 + (setting.speculation.tokens if setting.speculation else 0)
    most: int = min(setting.max_num_seqs * query * 2, MOST_CAPTURED, setting.batch_tokens)
    sizes: list[int] = [size for size in (1, 2, 4, *range(8, 256, 8), *range(256, most + 1, 16)) if size <= most]
    return len(sizes) + len([size for size in sizes if size <= setting.max_num_seqs * query])


def _estimate_graphs_gib(setting: ResolvedSettings) -> float:
    layers = -(-len(setting.shape.layers) // setting.split.pp)
    each = NEW_GRAPH_BYTES if setting.rules.version >= NEW_RUNNER else GRAPH_BYTES
    return count_graphs(setting) * layers * each / GIB
