"""Entry point of the estimates: whether an engine fits its GPUs, by how much, and its maximum speed."""

from dataclasses import fields, replace

from app.engines.fit.overhead import graphs_captured
from app.engines.fit.precision import described
from app.engines.fit.reckoned import Fit, Reckoned
from app.engines.fit.reckoning import Reckoning, reckon
from app.engines.fit.setting import GIB
from app.engines.fit.speed import limit, limit_with_speculation
from app.engines.fit.verdict import Beside, judged
from app.errors import BadInput
from app.lineups.model import Engine, Gpu, Lineup


def plan_lineup(lineup: Lineup) -> tuple[Fit, ...]:
    return tuple(fit_engine(lineup, engine) for engine in lineup.engines.values())


def fit_engine(lineup: Lineup, engine: Engine, gpus: tuple[Gpu, ...] | None = None) -> Fit:
    """Estimate one replica: the first, beside engines that start earlier, or one alone on `gpus`."""
    beside = Beside() if gpus else _beside(lineup, engine)
    gpus = gpus or _gpus(lineup, engine)
    found = reckon(engine, gpus)
    verdict = judged(found, beside, lambda tp: reckon(replace(engine, tp=tp, pp=1), gpus))
    return Fit(
        name=engine.name,
        fits=verdict.fits,
        says=verdict.says,
        missing_gib_per_gpu=Reckoned(
            verdict.missing_gib, _pool(found).provenance, "what it asks for less what there is"
        ),
        weights_gib_per_gpu=_weights(found),
        kv_pool_gib_per_gpu=_pool(found),
        other_gib_per_gpu=_other(found),
        kv_tokens=_tokens(found),
        max_concurrency=_concurrency(found),
        largest_context=_context(found),
        limit_tok_s=limit(found.setting),
        limit_with_speculation_tok_s=limit_with_speculation(found.setting),
    )


def _gpus(lineup: Lineup, engine: Engine) -> tuple[Gpu, ...]:
    known = {gpu.index: gpu for gpu in lineup.gpus}
    if engine.on_cpu:
        raise BadInput(f"{engine.name} runs on the processor: there is no GPU whose memory could be planned.")
    if not engine.gpus:
        raise BadInput(f"{engine.name} has no GPUs: name them in the line-up.")
    if missing := [index for index in engine.replicas[0] if index not in known]:
        raise BadInput(f"{engine.name} asks for GPU {missing[0]}, which the line-up does not have.")
    return tuple(known[index] for index in engine.replicas[0])


def _beside(lineup: Lineup, engine: Engine) -> Beside:
    """Sum the memory that earlier engines hold on the GPUs of any replica."""
    held = dict.fromkeys(engine.gpus, 0.0)
    names = []
    for other in lineup.engines.values():
        if other.name == engine.name:
            break
        if shared := set(other.gpus) & set(engine.gpus):
            names.append(other.name)
            each = reckon(other, _gpus(lineup, other)).held_gib
            held |= {gpu: held[gpu] + each for gpu in shared}
    return Beside(tuple(names), max(held.values(), default=0.0))


def _weights(found: Reckoning) -> Reckoned:
    setting = found.setting
    parts = [
        f"{field.name.replace('_', ' ')} {getattr(found.weights, field.name) / GIB:.2f}"
        for field in fields(found.weights)
        if getattr(found.weights, field.name) >= GIB / 200
    ]
    over = f" over tp = {setting.split.tp}, pp = {setting.split.pp}" if setting.split.tp * setting.split.pp > 1 else ""
    guessed = setting.shape.towers and not setting.shape.towers.exact and not setting.split.text_only
    return Reckoned(
        found.weights_gib,
        "estimated" if guessed else "derived",
        f"from the model's shape, {described(setting.precision, setting.shape)}{over}: {', '.join(parts)} GiB",
    )


def _pool(found: Reckoning) -> Reckoned:
    setting = found.setting
    if setting.kv_cache_bytes is not None:
        return Reckoned(found.pool_gib, "derived", "--kv-cache-memory-bytes, which utilization does not bound")
    graphs = "activations and CUDA graphs" if setting.rules.graphs_counted else "activations"
    return Reckoned(
        found.pool_gib,
        "estimated",
        f"utilization {setting.utilization:g} x {setting.gpu_gib:.2f} GiB - weights {found.weights_gib:.2f} "
        f"- {graphs} {found.profiled_gib:.2f}, the rule of {setting.rules.name}",
    )


def _other(found: Reckoning) -> Reckoned:
    extra = found.overhead
    return Reckoned(
        extra.total,
        "estimated",
        f"activations of a batch of {found.setting.batch_tokens:,} tokens and {found.setting.max_num_seqs:,} samples "
        f"{extra.activations:.2f}, {graphs_captured(found.setting)} CUDA graphs {extra.graphs:.2f}, CUDA and NCCL "
        f"{extra.context:.2f} GiB; scaled from the 31B on four L4, vLLM 0.19",
    )


def _tokens(found: Reckoning) -> Reckoned:
    cache, length, pool = found.cache, found.setting.max_model_len, found.left_gib * GIB
    if cache.blocks(pool) == 0:
        return _none_left()
    blocks = f"{cache.blocks(pool):,} blocks of {cache.block_bytes:,} bytes in {len(cache.groups)} groups of layers"
    by = "concurrency x max_model_len" if cache.rules.tokens_by_concurrency else "blocks // groups x block size"
    return Reckoned(cache.tokens(pool, length), _pool(found).provenance, f"{blocks}; {cache.rules.name} reports {by}")


def _concurrency(found: Reckoning) -> Reckoned:
    cache, length, pool = found.cache, found.setting.max_model_len, found.left_gib * GIB
    if cache.blocks(pool) == 0:
        return _none_left()
    source = f"{cache.blocks(pool):,} blocks ÷ {cache.request(length):,} for a request of {length:,} tokens"
    return Reckoned(cache.concurrency(pool, length), _pool(found).provenance, source)


def _context(found: Reckoning) -> Reckoned:
    if not (longest := found.largest_context):
        return _none_left()
    if longest == found.setting.shape.positions:
        return Reckoned(longest, "derived", "the model has no more positions")
    return Reckoned(
        longest, _pool(found).provenance, "what the KV pool holds of one request; 5 % less is safe to start with"
    )


def _none_left() -> Reckoned:
    return Reckoned(None, "unsupported", "nothing is left for a KV cache")
