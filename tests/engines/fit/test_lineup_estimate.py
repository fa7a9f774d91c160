"""Verdicts: what fits, what does not, by how much, and what to change."""

import json
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.engines.fit.lineup_estimate import plan_lineup
from app.errors import BadInput
from app.lineups.model import Engine, Gpu, Speculation
from tests.engines.fit.planning import BF16, E2B, E4B, NVFP4, TINY_LLAMA, engine, fit, lineup
from tests.thorough import examples


def named(name, model, precision, gpus, **more):
    return Engine(name, name, model, precision, gpus, len(gpus), **{"max_model_len": 4096, **more})


def test_the_31b_in_nvfp4_on_two_l4_lands_near_what_was_measured():
    """vLLM 0.19: 16.3 GiB of weights, 2.39 GiB of fp8 pool, 3.58 requests of 4,096 tokens."""
    found = fit("l4:2", engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8"))
    assert found.fits
    assert found.missing_gib_per_gpu.value == 0
    assert found.weights_gib_per_gpu.value == pytest.approx(16.3, rel=0.02)
    assert found.kv_pool_gib_per_gpu.value == pytest.approx(2.39, rel=0.06)
    assert found.max_concurrency.value == pytest.approx(3.58, rel=0.06)
    assert found.says.startswith("Fits. 2.5 GiB of KV cache per GPU hold 3.7 requests of 4,096 tokens. Tight:")


def test_two_l4_hold_21_4_gib_in_all():
    """21.9 of nvidia-smi's 23.0, of which the driver keeps about half a GiB to itself."""
    found = fit("l4:2", engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8"))
    parts = (found.weights_gib_per_gpu, found.kv_pool_gib_per_gpu, found.other_gib_per_gpu)
    assert sum(part.value for part in parts) == pytest.approx(21.9, abs=0.5)


def test_every_number_says_where_it_comes_from():
    found = fit("l4:2", engine(NVFP4, tp=2))
    assert found.weights_gib_per_gpu.provenance == "derived"
    assert found.weights_gib_per_gpu.source.endswith(
        "MLP at 4.5 bit, the rest at 16 over tp = 2, pp = 1: "
        "mlp 5.45, attention 8.00, embeddings 1.31, rope 0.38, towers 1.07 GiB"
    )
    assert found.kv_pool_gib_per_gpu.provenance == found.other_gib_per_gpu.provenance == "estimated"
    assert found.limit_tok_s.provenance == "derived"


def test_too_heavy_says_by_how_much_and_which_tp_would_do():
    found = fit("l4:4", engine(NVFP4, vllm="0.19.0", kv_dtype="fp8"))
    assert not found.fits
    assert found.missing_gib_per_gpu.value > 11
    assert re.match(
        r"Lacks 13\.\d GiB per GPU: 31\.0 GiB of weights .* 19\.8 of 22\.0 GiB\. tp = 2 would fit\.", found.says
    )
    assert found.kv_pool_gib_per_gpu.value == 0
    assert found.kv_tokens.value is found.max_concurrency.value is found.largest_context.value is None


def test_where_no_tp_helps_it_says_so():
    found = fit((Gpu(0, "NVIDIA GeForce RTX 3050", 8.0, 224),), engine(BF16, "bf16"))
    assert found.says.endswith("Choose a smaller model, fewer bits or larger GPUs.")


def test_a_context_that_is_too_long_says_which_would_start():
    asked = engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8", max_model_len=200_000)
    found = fit("l4:2", asked)
    longest = found.largest_context.value
    assert not found.fits
    assert found.says == (
        f"Lacks {found.missing_gib_per_gpu.value:.2f} GiB per GPU of KV cache for one request of 200,000 tokens: "
        f"set max_model_len to {int(longest * 0.95):,} (at the very edge {longest:,} would start)."
    )
    edge = engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8", max_model_len=longest)
    assert fit("l4:2", edge).fits


def test_more_context_than_positions_is_refused():
    found = fit("h200:1", engine(E4B, "bf16", max_model_len=131_073))
    assert found.says == (
        "max_model_len = 131,073 is more than the model's 131,072 positions, and vLLM refuses: "
        "set max_model_len = 131072 or less."
    )


@pytest.mark.parametrize(
    ("tp", "pp", "says"),
    [
        (3, 1, "tp = 3 does not divide the model's 32 attention heads, and vLLM refuses: set tp = 2."),
        (1, 61, "pp = 61 is more than the model's 60 layers, and vLLM refuses: use fewer stages, or tp instead."),
    ],
)
def test_a_split_that_vllm_refuses_is_no_matter_of_memory(tp, pp, says):
    found = fit("b200:64", engine(NVFP4, tp=tp, pp=pp))
    assert (found.fits, found.says, found.missing_gib_per_gpu.value) == (False, says, 0)


def test_the_tp_that_is_proposed_divides_the_key_and_value_heads_too(tmp_path):
    heads = {"num_attention_heads": 40, "num_key_value_heads": 10}
    (tmp_path / "config.json").write_text(json.dumps({**TINY_LLAMA, **heads}))
    found = fit("b200:8", engine(tmp_path, "bf16", tp=8))
    assert found.says == "tp = 8 does not divide the model's 10 key and value heads, and vLLM refuses: set tp = 2."


def test_pipeline_stages_of_gemma_4_crash_until_0_20():
    def says(vllm):
        found = fit("l4:2", engine(NVFP4, pp=2, vllm=vllm, kv_dtype="fp8", max_num_seqs=32))
        return found.fits, found.says

    assert says("0.19.0") == (
        False,
        "Has the memory, but Gemma 4 with pp > 1 crashes in vLLM 0.19.0 (IntermediateTensors): use 0.22, or tp.",
    )
    assert says("0.22.1")[0]


def test_a_given_kv_cache_is_taken_as_it_is_and_may_be_too_much():
    right = fit("l4:2", engine(NVFP4, tp=2, kv_dtype="fp8", kv_cache_bytes=2 << 30))
    assert (right.fits, right.kv_pool_gib_per_gpu.value, right.kv_tokens.provenance) == (True, 2.0, "derived")
    over = fit("l4:2", engine(NVFP4, tp=2, kv_dtype="fp8", kv_cache_bytes=8 << 30, vllm="0.24.0"))
    assert not over.fits
    assert over.missing_gib_per_gpu.value == pytest.approx(16.21 + 8 + 1.47 + 0.8 - 22.03, abs=0.02)
    assert "Lower --kv-cache-memory-bytes" in over.says


def test_a_utilization_without_room_for_graphs_fails_later():
    found = fit("l4:2", engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8", utilization=0.97))
    assert not found.fits
    assert found.says.startswith("Starts to load and then lacks")
    assert fit("l4:2", engine(NVFP4, tp=2, vllm="0.19.0", kv_dtype="fp8", utilization=0.97, eager=True)).fits


def test_from_0_20_on_graphs_come_off_the_pool():
    graphs = [fit("l4:2", engine(NVFP4, tp=2, vllm="0.20.1", kv_dtype="fp8", eager=eager)) for eager in (False, True)]
    with_graphs, without = (found.kv_pool_gib_per_gpu.value for found in graphs)
    assert without - with_graphs == pytest.approx(1.47, abs=0.01)


def test_engines_that_share_a_gpu_start_one_after_the_other():
    first = named("first", E2B, "bf16", (0,), utilization=0.6)
    greedy = named("greedy", E2B, "bf16", (0,), utilization=0.6)
    modest = named("modest", E2B, "bf16", (0,), utilization=0.55, max_num_seqs=16)
    card = "h100:1"
    alone, refused = plan_lineup(lineup(card, first, greedy))
    assert (alone.fits, refused.fits) == (True, False)
    assert refused.missing_gib_per_gpu.value > 0
    found = re.match(r"Shares a GPU with first: (\S+) of 79\.2 GiB are taken, and vLLM wants 0\.6 of .*", refused.says)
    taken = float(found.group(1))
    assert f"here to {1 - taken / 79.19:.2f} at most." in refused.says
    small = named("first", E2B, "bf16", (0,), utilization=0.4)
    _, beside = plan_lineup(lineup(card, small, modest))
    assert beside.fits
    assert beside.says.endswith("Shares a GPU with first.")


def test_unified_memory_is_the_hosts_own():
    found = fit("gb10:1", engine(NVFP4, kv_dtype="fp8"))
    assert found.fits
    assert found.says.endswith("The memory is the host's own: what else runs there takes of it.")


def test_a_gpu_that_is_not_there_is_said():
    with pytest.raises(BadInput, match="one asks for GPU 1, which the line-up does not have"):
        fit("l4:1", engine(NVFP4, tp=2))
    with pytest.raises(BadInput, match="one has no GPUs"):
        fit("l4:1", engine(NVFP4, gpus=()))


def test_the_awq_31b_on_h100_comes_near_what_was_reported():
    """Published, vLLM 0.20.0 with EAGLE3 (4.5 GB): 85K tokens at tp=1 and 0.85, 102K at 0.94, 244K at tp=2 and 0.94."""
    drafter = Speculation("eagle3", "speculator", 3, weights_gib=4.19)

    def tokens(tp, **flags):
        one = engine("cyankiwi/gemma-4-31B-it-AWQ-4bit", "awq4", tp, speculation=drafter, kv_dtype="fp8", **flags)
        return fit("h100:2", one).kv_tokens.value

    light = {"utilization": 0.85, "max_num_seqs": 64, "max_num_batched_tokens": 8192, "max_model_len": 32_768}
    push = {"utilization": 0.94, "max_num_seqs": 256, "max_num_batched_tokens": 16_384, "max_model_len": 262_144}
    assert tokens(1, vllm="0.20.0", **light) == pytest.approx(85_000, rel=0.06)
    assert tokens(1, vllm="0.20.0", **{**light, "utilization": 0.94}) == pytest.approx(102_000, rel=0.06)
    assert tokens(2, vllm="0.20.0", **push) == pytest.approx(244_000, rel=0.06)


MODELS = st.sampled_from([(NVFP4, "nvfp4"), (BF16, "bf16"), (BF16, "fp8"), (E4B, "bf16"), (E2B, "bf16")])


@settings(deadline=None, max_examples=examples(30))
@given(MODELS, st.floats(0.3, 0.98), st.floats(0, 0.02), st.sampled_from(["0.19.0", "0.25.1", ""]))
def test_more_utilization_never_means_less_pool(model, utilization, more, vllm):
    low, high = (
        fit("h100:1", engine(*model, utilization=share, vllm=vllm)) for share in (utilization, utilization + more)
    )
    assert low.kv_pool_gib_per_gpu.value <= high.kv_pool_gib_per_gpu.value
    assert (low.largest_context.value or 0) <= (high.largest_context.value or 0)


@settings(deadline=None, max_examples=examples(30))
@given(MODELS, st.sampled_from(["l4:8", "h100:8"]))
def test_more_gpus_never_leave_less_room_or_speed(model, gpus):
    each = [fit(gpus, engine(*model, tp=tp)) for tp in (1, 2, 4, 8)]
    for fewer, more in pairwise(each):
        assert more.weights_gib_per_gpu.value <= fewer.weights_gib_per_gpu.value
        assert more.limit_tok_s.value >= fewer.limit_tok_s.value
        assert more.fits or not fewer.fits


@settings(deadline=None, max_examples=examples(30))
@given(MODELS, st.integers(1, 131_071))
def test_a_longer_context_never_fits_better(model, length):
    shorter, longer = (fit("h100:1", engine(*model, max_model_len=asked)) for asked in (length, length + 1))
    assert shorter.fits or not longer.fits
    assert shorter.missing_gib_per_gpu.value <= longer.missing_gib_per_gpu.value + 1e-9


@settings(deadline=None, max_examples=examples(30))
@given(MODELS, st.integers(1, 131_072), st.floats(0.5, 0.99), st.sampled_from(["l4:2", "l40s:2", "h100:2"]))
def test_the_verdict_and_the_numbers_agree(model, length, utilization, gpus):
    found = fit(gpus, engine(*model, max_model_len=length, utilization=utilization))
    if found.fits:
        assert found.missing_gib_per_gpu.value == 0
        assert found.max_concurrency.value >= 1
        assert found.largest_context.value >= length or found.largest_context.value == 131_072
    else:
        assert found.missing_gib_per_gpu.value > 0
