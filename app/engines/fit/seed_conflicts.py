"""Contradictions between published figures of these line-ups, and the figures that the estimates support."""

from dataclasses import dataclass, replace

from app.engines.fit.estimate import Estimate, Fit
from app.engines.fit.fit_plan import fit_engine
from app.engines.fit.resolved_settings import GIB
from app.engines.fit.seed_table import CONTEXT, VLLM, SeedRow, create_single_lineup
from app.lineups.model import Engine, Lineup, Speculation

GB = 1e9
TO_GB = GIB / GB
FULL_LAYERS_BYTES = 10 * 2 * 4 * 512
"""Bytes of one token at fp8: ten layers, K and V, four heads of 512."""
EAGLE3 = Speculation("eagle3", "RedHatAI/gemma-4-31B-it-speculator.eagle3", tokens=3, weights_gib=4.5e9 / GIB)


@dataclass(frozen=True)
class Conflict:
    about: str
    figures: tuple[str, ...]
    """The published figures."""
    supported: str


def find_seed_conflicts(rows: tuple[SeedRow, ...]) -> tuple[Conflict, ...]:
    by_name = {row.configuration: row.fit for row in rows}
    nvfp4, whole = by_name["31B NVFP4, tp=2"], by_name["31B NVFP4, tp=1"]
    return (
        _compare_gpu_memory(nvfp4),
        _compare_total_size(whole),
        _compare_small_models(by_name["E4B bf16, tp=1"], by_name["E2B bf16, tp=1"]),
        _compare_split_weights(by_name["31B bf16, tp=2"]),
        _compare_context(nvfp4),
        _compare_awq_size(),
        *_compare_h100_figures(),
    )


def _compare_gpu_memory(nvfp4: Fit) -> Conflict:
    weights, pool = _get_value(nvfp4.weights_gib_per_gpu), _get_value(nvfp4.kv_pool_gib_per_gpu)
    return Conflict(
        "31B NVFP4 on two L4, per GPU",
        ("11 GB and 13 GB of headroom", "22 GB after loading", "21.9 GB"),
        f"21.9 GB, but as the sum and not as the weights: {weights:.1f} GiB of weights, {pool:.1f} GiB of KV pool that "
        f"vLLM takes in advance, {_get_value(nvfp4.other_gib_per_gpu):.1f} "
        "GiB of CUDA graphs, activations and context. "
        "11 GB cannot be: attention and embeddings, which stay at 16 bit, are 9.3 GiB per GPU by themselves.",
    )


def _compare_total_size(whole: Fit) -> Conflict:
    weights = _get_value(whole.weights_gib_per_gpu)
    return Conflict(
        "31B NVFP4 as a whole",
        ("15.5 GB (31 B x 4 bit)", "22 GB in VRAM", "31 GB on disk"),
        f"About the size on disk: {weights * TO_GB:.1f} GB ({weights:.1f} GiB) once loaded. Only the MLP has 4 bits, "
        "4.5 with its scales; attention alone is 17.2 GB. One L4 fails on the weights, not on what they leave.",
    )


def _compare_small_models(e4b: Fit, e2b: Fit) -> Conflict:
    weights = [_get_value(fit.weights_gib_per_gpu) * TO_GB for fit in (e4b, e2b)]
    pools = [_get_value(fit.kv_pool_gib_per_gpu) for fit in (e4b, e2b)]
    return Conflict(
        "E4B and E2B on one L4",
        ("E4B 16 GB, E2B 10 GB", "E4B 20.5 GB, E2B 20.6 GB"),
        f"Both. The first are weights ({weights[0]:.1f} and {weights[1]:.1f} GB), the second all that is held: vLLM "
        f"fills either GPU up to its utilization, with {pools[0]:.1f} and {pools[1]:.1f} GiB of KV pool.",
    )


def _compare_split_weights(two: Fit) -> Conflict:
    four = fit_engine(*_place_on_l4(_create_engine("31B bf16, tp=4", "google/gemma-4-31B-it", tp=4)))
    weights = [_get_value(fit.weights_gib_per_gpu) * TO_GB for fit in (two, four)]
    return Conflict(
        "31B bf16 over several L4, weights per GPU",
        ("62 GB / 2 = 31 GB", "62 GB / 4 = 15.5 GB"),
        f"Neither, though the verdicts stand: {weights[0]:.1f} GB at tp=2 and {weights[1]:.1f} GB at tp=4. Every GPU "
        "holds towers and rotary tables in full, and where K serves as V the matrix is there twice.",
    )


def _compare_context(nvfp4: Fit) -> Conflict:
    longest = _get_value(nvfp4.largest_context)
    return Conflict(
        "31B NVFP4 on two L4: room for more than 4,096 tokens",
        ("little headroom beyond 4,096", "3.58 requests of 4,096 at a time"),
        f"The second: alone, one request may reach {longest:,.0f} tokens with an fp8 cache in vLLM 0.19, as fifty "
        "of the sixty look back 1,024 tokens only. From 0.20 on CUDA graphs come off the pool first, and from "
        "0.26 on a request keeps two batches in flight: far less remains.",
    )


def _compare_awq_size() -> Conflict:
    fit = fit_engine(*_place_on_l4(replace(_create_awq_engine("31B AWQ", tp=1), speculation=None, vllm=VLLM)))
    weights = _get_value(fit.weights_gib_per_gpu) * TO_GB
    return Conflict(
        "31B with 4-bit attention too",
        ("~15 GB, likely to fit one L4", "~16 GB"),
        f"Neither: {weights:.1f} GB, as embeddings and towers stay at 16 bit. On one L4: {fit.says}",
    )


def _compare_h100_figures() -> tuple[Conflict, Conflict]:
    light = fit_engine(
        *_place_on_h100(_create_awq_engine("light", tp=1, length=32768, utilization=0.85, seqs=64, batch=8192))
    )
    card = fit_engine(
        *_place_on_h100(_create_awq_engine("card", tp=1, length=65120, utilization=0.94, seqs=256, batch=8192))
    )
    push = fit_engine(
        *_place_on_h100(_create_awq_engine("push", tp=2, length=262144, utilization=0.94, seqs=256, batch=16384))
    )
    counted = ", ".join(f"{_get_value(fit.kv_tokens) / 1000:.0f}K" for fit in (light, card, push))
    pool, longest = _get_value(card.kv_pool_gib_per_gpu), _get_value(card.largest_context)
    return (
        Conflict(
            "KV cache of the AWQ 31B on H100",
            ("85K, 102K and 244K tokens", "6.11 requests of 262,144 tokens at a time, which are 1.6 M"),
            f"Both, for they count otherwise: these pools come to {counted} as vLLM 0.20.0 counts, which divides "
            f"blocks by groups of layers, and the last to {_get_value(push.max_concurrency):.1f} "
            "requests of 262,144. So "
            f"102K is no limit of a document's length: its {pool:.0f} GiB hold one of {longest:,.0f} tokens.",
        ),
        Conflict(
            "Longest context of one H100 at utilization 0.94",
            ("65,120 tokens, with 2.44 GiB where 2.47 are needed", "102K tokens of KV cache"),
            f"The second: {pool:.0f} GiB are left for the pool. 2.47 GiB is what the ten full layers alone take at "
            f"65,120 tokens ({65120 * FULL_LAYERS_BYTES / GIB:.2f} by the shape): a smaller card, or another setup.",
        ),
    )


def _create_awq_engine(
    name: str,
    tp: int,
    length: int = CONTEXT,
    utilization: float | None = None,
    seqs: int | None = None,
    batch: int | None = None,
) -> Engine:
    return replace(
        _create_engine(name, "cyankiwi/gemma-4-31B-it-AWQ-4bit", tp),
        precision="awq4",
        max_model_len=length,
        utilization=utilization,
        max_num_seqs=seqs,
        max_num_batched_tokens=batch,
        kv_dtype="fp8",
        vllm="0.20.0",
        speculation=EAGLE3,
    )


def _create_engine(name: str, model: str, tp: int) -> Engine:
    return Engine(name, name, model, "bf16", tuple(range(tp)), tp, CONTEXT, vllm=VLLM)


def _place_on_l4(engine: Engine) -> tuple[Lineup, Engine]:
    return create_single_lineup(engine, "l4:4")


def _place_on_h100(engine: Engine) -> tuple[Lineup, Engine]:
    return create_single_lineup(engine, "h100:2")


def _get_value(reckoned: Estimate) -> float:
    return reckoned.value or 0.0
