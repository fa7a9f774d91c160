"""Weights on one GPU, against what vLLM measured or allocated."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.vllm_versions import get_vllm_rules
from app.engines.fit.weights import GpuSplit, compute_weights_per_stage
from tests.engines.fit.planning import BF16, E2B, E4B, NVFP4, TINY_LLAMA, shape

GIB = 1 << 30


def gib(model, precision="bf16", vllm="0.25.1", **split):
    stages = compute_weights_per_stage(
        load_model_shape(model), precision, GpuSplit(**{"tp": 1, **split}), get_vllm_rules(vllm)
    )
    return max(stage.total for stage in stages) / GIB


def test_the_31b_in_bf16_loaded_57_91_gib_on_an_h200():
    """`Model loading took 57.91 GiB`, vLLM 0.25.1, text tower only."""
    assert gib(BF16, text_only=True) == pytest.approx(57.91, rel=0.02)


def test_the_31b_in_nvfp4_loaded_16_3_gib_on_each_of_two_l4():
    """vLLM 0.19, the whole model, tp=2."""
    assert gib(NVFP4, "nvfp4", "0.19.0", tp=2) == pytest.approx(16.3, rel=0.02)


@pytest.mark.parametrize(("model", "allocated"), [(BF16, 57.75834), (E4B, 14.08845), (E2B, 8.80888)])
def test_the_modules_of_vllm_0_32_hold_these_parameters_and_buffers(model, allocated):
    """Counted on the text model that vLLM 0.32.0 itself builds, without memory behind it."""
    assert gib(model, vllm="0.32.0", text_only=True) == pytest.approx(allocated, abs=0.0001)


@pytest.mark.parametrize(("model", "parameters"), [(BF16, 31_273_088_876), (E4B, 7_996_156_490), (E2B, 5_123_178_051)])
def test_the_checkpoints_have_as_many_parameters(model, parameters):
    """As published, towers included. vLLM's rotary tables and second copies of V are not in a checkpoint."""
    of = load_model_shape(model)
    (held,) = compute_weights_per_stage(of, "bf16", GpuSplit(tp=1), get_vllm_rules("0.25.1"))
    twice = sum(of.hidden * layer.head_dim * layer.kv_heads for layer in of.layers if layer.k_is_v)
    assert (held.total - held.rope) / 2 - twice == pytest.approx(parameters, rel=1e-5)


def test_until_0_30_layers_that_share_a_cache_hold_projections_that_nobody_uses():
    assert gib(E4B, vllm="0.29.0") - gib(E4B, vllm="0.30.0") == pytest.approx(0.103, abs=0.001)
    assert gib(BF16, vllm="0.29.0") == gib(BF16, vllm="0.30.0")


def test_key_and_value_heads_that_are_fewer_than_the_gpus_are_repeated():
    of = load_model_shape(E2B)
    one, two = (compute_weights_per_stage(of, "bf16", GpuSplit(tp=tp), get_vllm_rules(""))[0] for tp in (1, 2))
    kv = 2 * sum(2 * of.hidden * layer.head_dim for layer in of.layers if not layer.shares_kv)
    assert two.attention == (one.attention - kv) / 2 + kv
    assert two.per_layer_tables == one.per_layer_tables / 2
    assert (two.towers, two.norms, two.rope) == (one.towers, one.norms, one.rope)


def test_every_stage_of_gemma_4_has_the_embeddings_and_others_share_them_out():
    for stage in compute_weights_per_stage(load_model_shape(BF16), "bf16", GpuSplit(tp=1, pp=2), get_vllm_rules("")):
        assert stage.embeddings == 2 * 262_144 * 5376
    untied = replace(shape(TINY_LLAMA), tied=False)
    first, last = compute_weights_per_stage(untied, "bf16", GpuSplit(tp=1, pp=2), get_vllm_rules(""))
    assert (first.embeddings, first.head) == (last.head, last.embeddings) == (2 * 2048 * 256, 0)


def test_the_vocabulary_is_padded_to_64_rows():
    odd = replace(shape(TINY_LLAMA), vocab=2049)
    (held,) = compute_weights_per_stage(odd, "bf16", GpuSplit(tp=1), get_vllm_rules(""))
    assert held.embeddings == 2 * 2112 * 256


def test_nvfp4_leaves_attention_alone_and_the_others_do_not():
    def parts(precision):
        (held,) = compute_weights_per_stage(load_model_shape(BF16), precision, GpuSplit(tp=1), get_vllm_rules(""))
        return held

    full, nvfp4, fp8, awq4 = (parts(precision) for precision in ("bf16", "nvfp4", "fp8", "awq4"))
    assert nvfp4.mlp == full.mlp * 4.5 / 16
    assert nvfp4.attention == full.attention
    assert fp8.attention == full.attention / 2
    assert awq4.attention == full.attention * (4 + 20 / 128) / 16
    assert full.embeddings == nvfp4.embeddings == fp8.embeddings == awq4.embeddings


def test_a_drafter_is_spread_over_the_gpus():
    assert gib(BF16, tp=2, drafter=4 * GIB) - gib(BF16, tp=2) == pytest.approx(2)


@given(st.sampled_from([BF16, E4B, E2B]), st.sampled_from(["bf16", "fp8", "nvfp4", "awq4"]), st.booleans())
def test_more_gpus_never_hold_more_each(model, precision, text_only):
    each = [gib(model, precision, tp=tp, text_only=text_only) for tp in (1, 2, 4, 8)]
    assert each == sorted(each, reverse=True)
    assert gib(model, "bf16") >= gib(model, precision)
