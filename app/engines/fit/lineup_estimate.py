"""Entry point of the estimates: whether an engine fits its GPUs, by how much, and its maximum speed."""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType

from app.engines.fit.decode_speed_limit import estimate_speculative_speed_at_stated_acceptance, estimate_speed_limit
from app.engines.fit.estimate_result import Estimate, Fit
from app.engines.fit.fit_verdict import Neighbors, ProgramsOnGpu, judge_fit
from app.engines.fit.memory_estimate import MemoryEstimate, estimate_memory
from app.engines.fit.overhead import count_graphs
from app.engines.fit.resolved_settings import GIB
from app.engines.fit.weight_bits import describe_precision
from app.errors import BadInput
from app.lineups.model import Engine, Gpu, Lineup


def plan_lineup(lineup: Lineup) -> tuple[Fit, ...]:
    return tuple(estimate_engine_beside_neighbors(lineup, engine) for engine in lineup.engines.values())


def estimate_engine_beside_neighbors(lineup: Lineup, engine: Engine, neighbors: Neighbors | None = None) -> Fit:
    """Estimate the first replica. Its neighbors are the engines that start earlier on the GPUs, unless given."""
    beside = neighbors or estimate_neighbors_earlier_in_lineup(lineup, engine)
    gpus = _find_first_replica_gpus(lineup, engine)
    found = estimate_memory(engine, gpus)
    verdict = judge_fit(found, beside, lambda tp: estimate_memory(replace(engine, tp=tp, pp=1), gpus))
    pool = _estimate_pool(found)
    return Fit(
        name=engine.name,
        fits=verdict.fits,
        says=verdict.says,
        missing_gib_per_gpu=Estimate(verdict.missing_gib, pool.provenance, "what it asks for less what there is"),
        weights_gib_per_gpu=_estimate_weights_gib(found),
        kv_pool_gib_per_gpu=pool,
        other_gib_per_gpu=_estimate_overhead(found),
        kv_tokens=_estimate_cache_tokens(found),
        max_concurrency=_estimate_concurrency(found),
        largest_context=_estimate_longest_context(found),
        limit_tok_s=estimate_speed_limit(found.setting),
        limit_with_speculation_tok_s=estimate_speculative_speed_at_stated_acceptance(found.setting),
    )


def _find_first_replica_gpus(lineup: Lineup, engine: Engine) -> tuple[Gpu, ...]:
    known = {gpu.index: gpu for gpu in lineup.gpus}
    if engine.is_endpoint:
        raise BadInput(f"{engine.name} is a server that Temper does not start: its memory cannot be planned.")
    if engine.is_on_cpu:
        raise BadInput(f"{engine.name} runs on the processor: there is no GPU whose memory could be planned.")
    if not engine.gpus:
        raise BadInput(f"{engine.name} has no GPUs: name them in the line-up.")
    if missing := [index for index in engine.replicas[0] if index not in known]:
        raise BadInput(f"{engine.name} asks for GPU {missing[0]}, which the line-up does not have.")
    return tuple(known[index] for index in engine.replicas[0])


def estimate_neighbors_earlier_in_lineup(
    lineup: Lineup, engine: Engine, programs: Mapping[int, ProgramsOnGpu] = MappingProxyType({})
) -> Neighbors:
    """Sum the memory that earlier engines, and `programs` by GPU, hold on the GPUs of any replica."""
    others = {gpu: programs[gpu] for gpu in engine.gpus if gpu in programs}
    held = {gpu: others[gpu].held_gib if gpu in others else 0.0 for gpu in engine.gpus}
    names = []
    for other in lineup.engines.values():
        if other.name == engine.name:
            break
        if shared := set(other.gpus) & set(engine.gpus):
            names.append(other.name)
            each = estimate_memory(other, _find_first_replica_gpus(lineup, other)).held_gib
            held |= {gpu: held[gpu] + each for gpu in shared}
    there = dict.fromkeys(name for other in others.values() for name in other.names)
    return Neighbors(tuple(names), max(held.values(), default=0.0), tuple(there))


def _estimate_weights_gib(memory: MemoryEstimate) -> Estimate:
    setting = memory.setting
    parts = [
        f"{field.name.replace('_', ' ')} {getattr(memory.weights, field.name) / GIB:.2f}"
        for field in fields(memory.weights)
        if getattr(memory.weights, field.name) >= GIB / 200
    ]
    over = f" over tp = {setting.split.tp}, pp = {setting.split.pp}" if setting.split.tp * setting.split.pp > 1 else ""
    guessed = setting.shape.towers and not setting.shape.towers.exact and not setting.split.text_only
    return Estimate(
        memory.weights_gib,
        "estimated" if guessed else "derived",
        f"from the model's shape, {describe_precision(setting.precision, setting.shape)}{over}: {', '.join(parts)} GiB",
    )


def _estimate_pool(memory: MemoryEstimate) -> Estimate:
    setting = memory.setting
    if setting.kv_cache_bytes is not None:
        return Estimate(memory.pool_gib, "derived", "--kv-cache-memory-bytes, which utilization does not bound")
    graphs = "activations and CUDA graphs" if setting.rules.graphs_counted else "activations"
    return Estimate(
        memory.pool_gib,
        "estimated",
        f"utilization {setting.utilization:g} x {setting.gpu_gib:.2f} GiB - weights {memory.weights_gib:.2f} "
        f"- {graphs} {memory.profiled_beside_weights_gib:.2f}, the rule of {setting.rules.name}",
    )


def _estimate_overhead(memory: MemoryEstimate) -> Estimate:
    extra = memory.overhead
    return Estimate(
        extra.total,
        "estimated",
        f"activations of a batch of {memory.setting.batch_tokens:,} tokens and {memory.setting.max_num_seqs:,} samples "
        f"{extra.activations:.2f}, {count_graphs(memory.setting)} CUDA graphs {extra.graphs:.2f}, CUDA and NCCL "
        f"{extra.context:.2f} GiB; scaled from the 31B on four L4, vLLM 0.19",
    )


def _estimate_cache_tokens(memory: MemoryEstimate) -> Estimate:
    cache, pool = memory.cache, memory.left_for_pool_gib * GIB
    if not (count := cache.count_blocks(pool)):
        return _create_valueless_estimate_without_cache_room()
    by = "concurrency x max_model_len" if cache.rules.tokens_by_concurrency else "blocks // groups x block size"
    return Estimate(
        cache.count_tokens(pool, memory.setting.max_model_len),
        _estimate_pool(memory).provenance,
        f"{count:,} blocks of {cache.largest_group_block_bytes:,} bytes in {len(cache.groups)} groups of layers; "
        f"{cache.rules.name} reports {by}",
    )


def _estimate_concurrency(memory: MemoryEstimate) -> Estimate:
    cache, length, pool = memory.cache, memory.setting.max_model_len, memory.left_for_pool_gib * GIB
    if not (count := cache.count_blocks(pool)):
        return _create_valueless_estimate_without_cache_room()
    source = f"{count:,} blocks ÷ {cache.count_request_blocks(length):,} for a request of {length:,} tokens"
    return Estimate(cache.compute_concurrency(pool, length), _estimate_pool(memory).provenance, source)


def _estimate_longest_context(memory: MemoryEstimate) -> Estimate:
    if not (longest := memory.largest_context):
        return _create_valueless_estimate_without_cache_room()
    if longest == memory.setting.shape.positions:
        return Estimate(longest, "derived", "the model has no more positions")
    source = "what the KV pool holds of one request; 5 % less is safe to start with"
    return Estimate(longest, _estimate_pool(memory).provenance, source)


def _create_valueless_estimate_without_cache_room() -> Estimate:
    return Estimate(None, "unsupported", "nothing is left for a KV cache")
