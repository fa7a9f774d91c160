"""Speed limits: memory bandwidth over what one token reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fit.decode_speed_limit import count_kv_bytes_read_per_token, count_weight_bytes_per_token
from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.vllm_versions import get_vllm_rules
from app.engines.fit.weights import GpuSplit
from app.lineups.model import Speculation
from tests.engines.fit.planning import BF16, E2B, E4B, NVFP4, TINY_LLAMA, engine, fit, shape


def limit(gpus, *args, **flags):
    return fit(gpus, engine(*args, **flags)).limit_tok_s.value


def test_15_1_tok_s_on_two_l4_are_79_percent_of_the_limit():
    assert 15.1 / limit("l4:2", NVFP4, tp=2) == pytest.approx(0.79, abs=0.005)


def test_bf16_over_four_l4_reads_nearly_as_much_each():
    assert limit("l4:4", BF16, "bf16", tp=4) == pytest.approx(19.5, abs=0.1)


def test_the_31b_in_bf16_on_an_h200_is_bound_by_78_tok_s():
    assert limit("h200:1", BF16, "bf16") == pytest.approx(78, abs=0.5)


def test_stages_are_read_one_after_the_other():
    assert limit("l4:2", NVFP4, pp=2) == pytest.approx(limit("l4:1", NVFP4))


def test_tables_and_towers_are_not_read():
    of = load_model_shape(E2B)
    assert count_weight_bytes_per_token(of, "bf16", GpuSplit(tp=1), get_vllm_rules("")) < 2 * 2.3e9
    text = count_weight_bytes_per_token(of, "bf16", GpuSplit(tp=1, text_only=True), get_vllm_rules(""))
    assert text == count_weight_bytes_per_token(of, "bf16", GpuSplit(tp=1), get_vllm_rules(""))


def test_the_edge_models_read_their_projections_but_not_those_that_nobody_uses():
    """MLP 3.303 B, attention 0.587 B, tied head 0.671 B and per-layer projections 0.083 B, at 16 bit."""
    for vllm in ("0.25.1", "0.30.0"):
        assert limit("l4:1", E4B, "bf16", vllm=vllm) == pytest.approx(300 / (2 * 4.644), rel=0.001)


def test_a_token_reads_only_the_experts_it_is_sent_to():
    def read(per_token):
        moe = {**TINY_LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": per_token}
        return count_weight_bytes_per_token(shape(moe), "bf16", GpuSplit(tp=1), get_vllm_rules(""))

    assert read(2) - read(1) == 4 * 2 * 3 * 256 * 512


def test_the_source_says_what_a_long_context_costs():
    source = fit("l4:2", engine(NVFP4, tp=2, kv_dtype="fp8")).limit_tok_s.source
    assert source.startswith("300 GB/s ÷ 15.74 GB of weights")
    assert "After 4,096 tokens the KV cache adds 0.29 GB: 18.7 tok/s" in source


def test_a_window_bounds_what_sliding_layers_read():
    of = load_model_shape(BF16)
    full = sum(2 * layer.kv_heads * layer.head_dim for layer in of.layers if layer.kind == "full")
    more = count_kv_bytes_read_per_token(of, GpuSplit(tp=1), 1, 10_000) - count_kv_bytes_read_per_token(
        of, GpuSplit(tp=1), 1, 5_000
    )
    assert more == 5_000 * full


def drafted(**more):
    drafting = Speculation("mtp", "google/gemma-4-31B-it-assistant", 2, **more)
    return fit("rtx-pro-6000:1", engine(NVFP4, speculation=drafting)).limit_with_speculation_tok_s


def test_acceptance_multiplies_the_limit_and_the_drafter_takes_some_of_it():
    """Reported with 2.3 accepted: 64 to 70 tok/s, half of what the memory allows."""
    alone = limit("rtx-pro-6000:1", NVFP4)
    free, heavy = drafted(acceptance=2.3).value, drafted(acceptance=2.3, weights_gib=0.88).value
    assert free == pytest.approx(2.3 * alone)
    assert 70 < heavy < free


def test_drafting_in_parallel_reads_the_drafter_once():
    assert drafted(acceptance=2.0, weights_gib=1.0, parallel_drafting=True).value == pytest.approx(
        2 * 1792e9 / (1792e9 / limit("rtx-pro-6000:1", NVFP4) + 2**30)
    )


def test_without_an_acceptance_there_is_a_range_and_no_number():
    found = drafted()
    assert (found.value, found.provenance) == (None, "unsupported")
    assert "from 56.9 tok/s, nothing accepted, to 170.8, all accepted" in found.source


def test_without_speculation_there_is_no_number():
    assert fit("l4:2", engine(NVFP4, tp=2)).limit_with_speculation_tok_s.value is None


@given(st.floats(1, 10), st.floats(0, 10))
def test_acceptance_stays_within_what_is_drafted(acceptance, weights):
    found = drafted(acceptance=acceptance, weights_gib=weights).value
    assert 0 < found <= 3 * limit("rtx-pro-6000:1", NVFP4) + 1e-9
