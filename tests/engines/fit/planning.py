"""Engines to plan with, and the configs of the tiny models that a real vLLM was asked about."""

from typing import Any

from app.engines.fit.checkpoint_config import build_shape
from app.engines.fit.gpu_kinds import parse_gpu_kind_colon_count
from app.engines.fit.lineup_estimate import estimate_engine_beside_neighbors
from app.lineups.model import Engine, Gpu, Lineup

NVFP4, BF16 = "nvidia/Gemma-4-31B-IT-NVFP4", "google/gemma-4-31B-it"
E4B, E2B = "google/gemma-4-E4B-it", "google/gemma-4-E2B-it"
CPU = (Gpu(0, "cpu", 16.0, 50.0),)

TINY_GEMMA4: dict[str, Any] = {
    "model_type": "gemma4_text",
    "attention_k_eq_v": True,
    "head_dim": 64,
    "hidden_size": 256,
    "intermediate_size": 512,
    "layer_types": ["sliding_attention"] * 5 + ["full_attention"],
    "max_position_embeddings": 4096,
    "num_attention_heads": 4,
    "num_experts": None,
    "num_hidden_layers": 6,
    "num_key_value_heads": 2,
    "num_kv_shared_layers": 0,
    "per_layer_config": {"5": {"head_dim": 128, "num_key_value_heads": 1}},
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_type": "proportional"},
        "sliding_attention": {"rope_type": "default"},
    },
    "sliding_window": 256,
    "tie_word_embeddings": True,
    "vocab_size": 2048,
}
TINY_LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "head_dim": 64,
    "hidden_size": 256,
    "intermediate_size": 512,
    "max_position_embeddings": 4096,
    "num_attention_heads": 4,
    "num_hidden_layers": 4,
    "num_key_value_heads": 2,
    "rope_parameters": {"rope_theta": 10000.0, "rope_type": "default"},
    "tie_word_embeddings": True,
    "vocab_size": 2048,
}


def engine(model=NVFP4, precision="nvfp4", tp=1, pp=1, **more) -> Engine:
    given = {"max_model_len": 4096, "gpus": tuple(range(tp * pp)), **more}
    return Engine(name="one", title="One", model=str(model), precision=precision, tp=tp, pp=pp, **given)


def lineup(gpus, *engines) -> Lineup:
    """`gpus` as the command line has them, or the GPUs themselves."""
    there = parse_gpu_kind_colon_count(gpus, ()) if isinstance(gpus, str) else gpus
    return Lineup("test", "Test", "", there, {one.name: one for one in engines}, {})


def fit(gpus, one):
    return estimate_engine_beside_neighbors(lineup(gpus, one), one)


def shape(config):
    return build_shape(config, "config.json")
