"""Any checkpoint's config.json, and every way in which a file can be something else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.engines.fit.checkpoint_config import read_model_shape
from app.engines.fit.model_shape_loader import load_model_shape
from app.engines.fit.vllm_versions import get_vllm_rules
from app.engines.fit.weights import GpuSplit, compute_weights_per_stage
from app.errors import BadInput
from tests.engines.fit.planning import TINY_GEMMA4, TINY_LLAMA, shape


def parameters(of):
    (held,) = compute_weights_per_stage(of, "bf16", GpuSplit(tp=1), get_vllm_rules("0.25.1"))
    return (held.total - held.rope) / 2


def test_a_llama_has_one_kind_of_layer():
    found = shape(TINY_LLAMA)
    assert {layer.kind for layer in found.layers} == {"full"}
    assert found.window is None
    assert found.rope_dims == (64,)
    assert parameters(found) == pytest.approx(2_885_888, rel=0.0005)


def test_gemma_4_as_old_and_as_new_transformers_write_it_is_the_same():
    old = {key: value for key, value in TINY_GEMMA4.items() if key != "per_layer_config"}
    old |= {"global_head_dim": 128, "num_global_key_value_heads": 1}
    assert shape(old) == shape(TINY_GEMMA4)
    last = shape(old).layers[-1]
    assert (last.kind, last.kv_heads, last.head_dim, last.k_is_v) == ("full", 1, 128, True)


def test_a_text_model_inside_another_is_found():
    inside = {"model_type": "gemma4", "text_config": TINY_GEMMA4, "quantization_config": {"quant_method": "modelopt"}}
    found = shape(inside)
    assert found.architecture == "gemma4_text"
    assert found.quantization.method == "modelopt"


def test_real_sizes_come_out_for_well_known_models():
    """Published parameter counts."""
    llama = {**TINY_LLAMA, "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "head_dim": 128}
    llama |= {"num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False}
    assert parameters(shape(llama)) == pytest.approx(8_030_261_248, rel=1e-4)
    qwen = {**llama, "model_type": "qwen3", "hidden_size": 5120, "intermediate_size": 17408, "num_hidden_layers": 40}
    qwen |= {"num_attention_heads": 40, "vocab_size": 151936}
    assert parameters(shape(qwen)) == pytest.approx(14_768_307_200, rel=1e-4)
    mixtral = {**llama, "model_type": "mixtral", "vocab_size": 32000, "num_local_experts": 8, "num_experts_per_tok": 2}
    assert parameters(shape(mixtral)) == pytest.approx(46_702_792_704, rel=1e-4)


def test_windows_follow_each_familys_rule():
    window = {"sliding_window": 512, "num_hidden_layers": 12}

    def full(**config):
        kinds = shape({**TINY_LLAMA, **window, **config}).layers
        return [number for number, layer in enumerate(kinds) if layer.kind == "full"]

    assert full(model_type="mistral") == []
    assert full(model_type="gemma2") == [1, 3, 5, 7, 9, 11]
    assert full(model_type="gemma3_text") == [5, 11]
    assert full(model_type="qwen2", use_sliding_window=False) == list(range(12))
    assert full(model_type="mistral", sliding_window=None) == list(range(12))


def test_a_checkpoint_may_ask_for_an_fp8_cache_and_name_its_groups():
    modelopt = {"quant_method": "modelopt", "kv_cache_quant_algo": "FP8"}
    assert shape({**TINY_LLAMA, "quantization_config": modelopt}).quantization.kv_fp8
    tensors = {"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": {"group_size": 32}}}}
    found = shape({**TINY_LLAMA, "quantization_config": {**tensors, "kv_cache_scheme": {"num_bits": 8}}}).quantization
    assert (found.group, found.kv_fp8) == (32, True)


def test_experts_of_gemma_4_stand_beside_its_mlp():
    found = shape(
        {**TINY_GEMMA4, "enable_moe_block": True, "num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 64}
    )
    assert (found.experts, found.experts_per_token) == (8, 2)
    assert {(layer.intermediate, layer.expert_intermediate) for layer in found.layers} == {(512, 64)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "mamba2"}, r"no memory estimate for the architecture 'mamba2' \(known: llama, mistral"),
        ({"model_type": None}, "it has no model_type"),
        ({"hidden_size": None}, "it has no hidden_size"),
        ({"hidden_size": "large"}, "its hidden_size should be a whole number"),
        ({"hidden_size": True}, "its hidden_size should be a whole number"),
        ({"vocab_size": 0}, "its vocab_size should be more than 0"),
        ({"num_hidden_layers": 10**9}, "are more than any model has"),
        ({"num_attention_heads": 3}, "its 3 attention heads cannot share 2"),
        ({"layer_types": ["full_attention"]}, "layer_types name 1 layers and num_hidden_layers 4"),
        ({"layer_types": ["linear_attention"] * 4}, "layers of type 'linear_attention'"),
        ({"layer_types": ["sliding_attention"] * 4}, "it has no sliding_window"),
        ({"layer_types": "full_attention"}, "its layer_types should be a list"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings should be true or false"),
        ({"rope_parameters": {"partial_rotary_factor": 7}}, "partial_rotary_factor should be a number from 0 to 1"),
    ],
)
def test_what_cannot_be_reckoned_says_why_and_what_to_give(change, says):
    with pytest.raises(BadInput, match=says) as refused:
        shape({**TINY_LLAMA, **change})
    assert str(refused.value).startswith("config.json cannot be used for an estimate: ")
    assert str(refused.value).endswith("Give the checkpoint's own config.json.")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is not JSON"),
        (b"# A model card", "is not JSON"),
        (b"\xff\xfe\x00", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[1, 2]", "is JSON, but not a model's config"),
        (b" " * 4_000_001, "is too large for a config.json"),
    ],
)
def test_a_file_that_is_no_config_says_so(tmp_path, content, says):
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(BadInput, match=f"{re.escape(str(file))} {says}.*: give the config.json of the checkpoint"):
        read_model_shape(tmp_path)


def test_a_folder_without_a_config_says_so(tmp_path):
    with pytest.raises(BadInput, match=r"config\.json cannot be read \(No such file"):
        read_model_shape(tmp_path)


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(sorted({**TINY_GEMMA4, "text_config": 0, "vision_config": 0})), ANYTHING))
def test_hostile_values_never_end_in_a_traceback(changes):
    try:
        found = shape({**TINY_GEMMA4, **changes})
    except BadInput:
        return
    assert parameters(found) > 0


def test_files_and_folders_are_read_alike(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps(TINY_LLAMA))
    assert (
        load_model_shape(str(tmp_path)).layers
        == load_model_shape(str(tmp_path / "config.json")).layers
        == shape(TINY_LLAMA).layers
    )
