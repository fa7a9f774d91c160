"""Find a model's shape, from its files or from the models known by name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from app.engines.fit.hub_config import build_shape, read_model_config
from app.engines.fit.shape import ModelShape
from app.errors import BadInput

_GEMMA4: dict[str, Any] = {
    "model_type": "gemma4_text",
    "head_dim": 256,
    "global_head_dim": 512,
    "vocab_size": 262144,
    "vocab_size_per_layer_input": 262144,
    "tie_word_embeddings": True,
    "rope_parameters": {
        "full_attention": {"partial_rotary_factor": 0.25, "rope_type": "proportional"},
        "sliding_attention": {"rope_type": "default"},
    },
}
_SMALL_VISION = {"hidden_size": 768, "num_hidden_layers": 16, "intermediate_size": 3072, "num_attention_heads": 12}
_LARGE_VISION = {"hidden_size": 1152, "num_hidden_layers": 27, "intermediate_size": 4304, "num_attention_heads": 16}


def _repeat_layers(sliding: int, times: int) -> list[str]:
    return ([*("sliding_attention",) * sliding, "full_attention"]) * times


_TEXT: dict[str, dict[str, Any]] = {
    "gemma-4-31b": {
        "hidden_size": 5376,
        "intermediate_size": 21504,
        "num_hidden_layers": 60,
        "num_attention_heads": 32,
        "num_key_value_heads": 16,
        "num_global_key_value_heads": 4,
        "attention_k_eq_v": True,
        "sliding_window": 1024,
        "max_position_embeddings": 262144,
        "use_bidirectional_attention": "vision",
        "layer_types": _repeat_layers(5, 10),
    },
    "gemma-4-e4b": {
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 42,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "sliding_window": 512,
        "max_position_embeddings": 131072,
        "hidden_size_per_layer_input": 256,
        "num_kv_shared_layers": 18,
        "layer_types": _repeat_layers(5, 7),
    },
    "gemma-4-e2b": {
        "hidden_size": 1536,
        "intermediate_size": 6144,
        "num_hidden_layers": 35,
        "num_attention_heads": 8,
        "num_key_value_heads": 1,
        "sliding_window": 512,
        "max_position_embeddings": 131072,
        "hidden_size_per_layer_input": 256,
        "num_kv_shared_layers": 20,
        "use_double_wide_mlp": True,
        "layer_types": _repeat_layers(4, 7),
    },
}
_TOWERS: dict[str, dict[str, Any]] = {
    "gemma-4-31b": {"vision_config": {**_LARGE_VISION, "head_dim": 72}},
    "gemma-4-e4b": {"vision_config": {**_SMALL_VISION, "head_dim": 64}, "audio_config": {}},
    "gemma-4-e2b": {"vision_config": {**_SMALL_VISION, "head_dim": 64}, "audio_config": {}},
}
_DRAFTERS = ("assistant", "speculator", "eagle", "dflash", "drafter")


def find_shape(model: str) -> ModelShape:
    """Return the shape of a config folder or file, or of a known hub name. Raise BadInput if unknown."""
    if (path := Path(model)).exists():
        return read_model_config(path)
    base = model.lower().rstrip("/").rpartition("/")[2].replace("_", "-")
    known = next((name for name in _TEXT if base.startswith(name)), None)
    if known is None or any(word in base for word in _DRAFTERS):
        raise BadInput(
            f"The shape of {model!r} is not known here, and there is no such folder: "
            f"give the path of its config.json. Known by name: {', '.join(_TEXT)} and what was quantised from them."
        )
    config = {"model_type": "gemma4", "text_config": {**_GEMMA4, **_TEXT[known]}, **_TOWERS[known]}
    return replace(build_shape(config, known), name=model)
