"""What vLLM 0.25.1 reported of real shapes on H200s (docs/measurements/engines_h200.md), against the reckoning."""

import pytest

from app.engines.fit.lineup_estimate import estimate_engine_beside_neighbors
from app.lineups.model import Engine, Gpu, Lineup

CARDS = tuple(Gpu(index, "NVIDIA H200", 140.4, 4800) for index in range(2))
MEASURED = {
    # name: model, precision, tp, what it was started with; GiB of weights, GiB for the KV cache, its tokens
    "31B bf16": (
        "31B", "bf16", 1, {"max_model_len": 32768, "utilization": 0.9, "max_num_seqs": 64}, 57.91, 64.9, 222_837,
    ),
    "31B NVFP4, eager": (
        "31B", "nvfp4", 1, {"max_model_len": 4096, "utilization": 0.5, "kv_dtype": "fp8", "eager": True},
        30.13, 37.92, 90_045,
    ),
    "31B NVFP4, tp 2": (
        "31B", "nvfp4", 2, {"max_model_len": 16384, "utilization": 0.5, "kv_dtype": "fp8", "max_num_seqs": 16},
        15.26, 52.65, 416_038,
    ),
    "E4B": ("E4B", "bf16", 1, {"max_model_len": 8192, "utilization": 0.3}, 14.23, 21.79, 406_855),
    "E4B, 16 sequences": (
        "E4B", "bf16", 1, {"max_model_len": 16384, "utilization": 0.3, "max_num_seqs": 16}, 14.23, 21.79, 612_071,
    ),
    "E2B, eager": ("E2B", "bf16", 1, {"max_model_len": 8192, "utilization": 0.3, "eager": True}, 8.86, 31.3, 1_818_358),
    "E2B, 16 sequences": (
        "E2B", "bf16", 1, {"max_model_len": 16384, "utilization": 0.3, "max_num_seqs": 16}, 8.86, 28.1, 2_376_911,
    ),
}  # fmt: skip


@pytest.fixture(params=MEASURED)
def case(request):
    model, precision, tp, words, *measured = MEASURED[request.param]
    engine = Engine(
        "e", "E", f"google/gemma-4-{model}-it", precision, tuple(range(tp)), tp,
        base_urls=("http://127.0.0.1:8001/v1",), text_only=True, vllm="0.25.1", **words,
    )  # fmt: skip
    return estimate_engine_beside_neighbors(Lineup("l", "L", "", CARDS, {"e": engine}, {}), engine), measured


def test_the_weights_are_what_it_reports_within_one_percent(case):
    found, (weights, _, _) = case
    assert found.weights_gib_per_gpu.value == pytest.approx(weights, rel=0.01)


def test_a_gib_of_the_cache_holds_as_many_tokens_as_it_reports(case):
    found, (_, pool, tokens) = case
    assert found.kv_tokens.value / found.kv_pool_gib_per_gpu.value == pytest.approx(tokens / pool, rel=0.001)


def test_the_pool_and_its_tokens_come_within_two_percent(case):
    found, (_, pool, tokens) = case
    assert found.kv_pool_gib_per_gpu.value == pytest.approx(pool, rel=0.02)
    assert found.kv_tokens.value == pytest.approx(tokens, rel=0.02)
