"""Seven configurations that were tried on four L4 with vLLM 0.19: bf16 ran out of memory twice, NVFP4 on one GPU once,
one configuration crashed and three worked."""

import pytest

from tests.engines.fit.planning import BF16, E2B, E4B, NVFP4, engine, fit

FP8 = {"kv_dtype": "fp8"}
TRIED = [
    pytest.param((BF16, "bf16", 2, 1), {}, "OOM", id="31B bf16, tp=2"),
    pytest.param((BF16, "bf16", 1, 2), {}, "OOM", id="31B bf16, pp=2"),
    pytest.param((NVFP4, "nvfp4", 1, 1), FP8, "OOM", id="31B NVFP4, tp=1"),
    pytest.param((NVFP4, "nvfp4", 2, 1), FP8, "works", id="31B NVFP4, tp=2"),
    pytest.param((NVFP4, "nvfp4", 1, 2), FP8, "bug", id="31B NVFP4, pp=2"),
    pytest.param((E4B, "bf16", 1, 1), {}, "works", id="E4B bf16, tp=1"),
    pytest.param((E2B, "bf16", 1, 1), {}, "works", id="E2B bf16, tp=1"),
]


def planned(tried, **more):
    return fit("l4:4", engine(*tried, vllm="0.19.0", **more))


@pytest.mark.parametrize(("tried", "more", "found"), TRIED)
def test_the_verdict_is_what_was_found_and_hangs_by_no_thread(tried, more, found):
    """A verdict that a tenth of a GiB would turn over would be luck."""
    plan = planned(tried, **more)
    assert plan.fits == (found == "works")
    if found == "OOM":
        assert plan.missing_gib_per_gpu.value > 10
    else:
        assert plan.missing_gib_per_gpu.value == 0
        assert plan.max_concurrency.value > 1.4


@pytest.mark.parametrize(("model", "gigabytes"), [(E4B, 16), (E2B, 10)])
def test_the_edge_models_weigh_what_was_reported(model, gigabytes):
    weights = planned((model, "bf16")).weights_gib_per_gpu.value
    assert weights * 1.0737 == pytest.approx(gigabytes, rel=0.05)


def test_both_edge_models_fill_the_card_alike():
    """20.5 and 20.6 GB were reported of two models of which one is a third lighter."""
    both = [planned((model, "bf16")) for model in (E4B, E2B)]
    held = [one.weights_gib_per_gpu.value + one.kv_pool_gib_per_gpu.value for one in both]
    assert held[0] == pytest.approx(held[1], abs=0.05)


def test_attention_and_embeddings_are_more_than_eleven_gigabytes_leave():
    nvfp4 = planned((NVFP4, "nvfp4", 2), **FP8)
    assert "attention 8.00, embeddings 1.31" in nvfp4.weights_gib_per_gpu.source


def test_the_whole_31b_weighs_what_it_takes_on_disk():
    """31 GB, and not 15.5 for 31 billion times 4 bit: only the MLP has 4 bits."""
    assert planned((NVFP4, "nvfp4"), **FP8).weights_gib_per_gpu.value == pytest.approx(31.0, abs=0.05)
