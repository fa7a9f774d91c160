"""Read a checkpoint's Hugging Face config.json into a ModelShape."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.engines.fit.checkpoint_config_values import ConfigValues
from app.engines.fit.checkpoint_layers import ONLY_EXPERTS, compute_dims_of_each_rotary_table, read_layers
from app.engines.fit.model_shape_types import ModelShape, Quantization, Towers
from app.errors import BadInput
from app.text.clean import read_with_excess_byte

DENSE = (
    *("llama", "mistral", "ministral", "ministral3", "qwen2", "qwen3", "phi3", "granite", "smollm3", "olmo2", "olmo3"),
    *("gemma", "gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text"),
)
LARGEST_CONFIG = 4_000_000
GEMMA4_AUDIO = 304_824_608
"""Parameters of the audio encoder of E2B and E4B, counted in the module."""
GEMMA4_VIDEO_TOKENS = 32 * (70 + 8)
"""vLLM plans for 32 frames of 70 tokens plus markers."""


def read_model_shape(path: Path) -> ModelShape:
    file = path / "config.json" if path.is_dir() else path
    try:
        raw = read_with_excess_byte(file, LARGEST_CONFIG)
    except OSError as exc:
        raise BadInput(f"{file} cannot be read ({exc.strerror}): give the config.json of the checkpoint.") from exc
    if len(raw) > LARGEST_CONFIG:
        raise BadInput(
            f"{file} is too large for a config.json: give the config.json of the checkpoint, not its weights."
        )
    try:
        config = json.loads(raw)
    except (ValueError, RecursionError) as exc:
        raise BadInput(f"{file} is not JSON: give the config.json of the checkpoint.") from exc
    if not isinstance(config, dict):
        raise BadInput(f"{file} is JSON, but not a model's config: give the config.json of the checkpoint.")
    return build_shape(config, str(file))


def build_shape(config: Mapping[str, Any], where: str) -> ModelShape:
    whole = ConfigValues(config, where)
    text = whole.read_table("text_config") or whole
    architecture = _read_architecture(whole, text)
    hidden = text.read_count("hidden_size")
    layers = read_layers(text, architecture)
    experts = _count_experts(text, architecture)
    per_layer = text.read_count("hidden_size_per_layer_input", 0)
    vocab = text.read_count("vocab_size")
    return ModelShape(
        name=where,
        architecture=architecture,
        hidden=hidden,
        heads=text.read_count("num_attention_heads"),
        layers=layers,
        vocab=vocab,
        positions=text.read_count("max_position_embeddings"),
        tied=text.read_flag(
            "tie_word_embeddings", whole.read_flag("tie_word_embeddings", architecture.startswith("gemma"))
        ),
        window=text.read_count("sliding_window") if any(layer.kind == "sliding" for layer in layers) else None,
        rope_dims=compute_dims_of_each_rotary_table(text, layers),
        norms_per_layer=4 if architecture.startswith(("gemma2", "gemma3", "gemma4")) else 2,
        norms_heads=architecture.startswith(("gemma3", "gemma4", "qwen3", "olmo2", "olmo3")),
        per_layer_input=per_layer,
        per_layer_vocab=text.read_count("vocab_size_per_layer_input", vocab) if per_layer else 0,
        experts=experts,
        experts_per_token=_require_experts_per_token(text) if experts else 0,
        towers=_read_towers(whole, text, architecture, hidden),
        quantization=_read_quantization(text) or _read_quantization(whole),
    )


def _read_architecture(config: ConfigValues, text_config: ConfigValues) -> str:
    named = text_config.read_word("model_type", "") or config.read_word("model_type")
    if named in (*DENSE, *ONLY_EXPERTS):
        return named
    known = ", ".join((*DENSE, *ONLY_EXPERTS))
    raise config.create_error(f"Temper has no memory estimate for the architecture {named!r} (known: {known})")


def _count_experts(text_config: ConfigValues, architecture: str) -> int:
    if architecture in ONLY_EXPERTS or text_config.read_flag("enable_moe_block", default=False):
        return text_config.read_count("num_local_experts", 0) or text_config.read_count("num_experts")
    return 0


def _require_experts_per_token(text_config: ConfigValues) -> int:
    return text_config.read_count("top_k_experts", 0) or text_config.read_count("num_experts_per_tok")


def _read_towers(config: ConfigValues, text_config: ConfigValues, architecture: str, hidden: int) -> Towers | None:
    vision, audio = config.read_table("vision_config"), config.read_table("audio_config")
    if vision is None and audio is None:
        return None
    known = architecture.startswith("gemma4")
    parameters = 0
    if vision is not None:
        parameters += _count_vision_parameters(vision, gemma4=known) + vision.read_count("hidden_size") * hidden
    if audio is not None:
        parameters += GEMMA4_AUDIO + audio.read_count("output_proj_dims", 1536) * hidden
    both_ways = known and text_config.read_word("use_bidirectional_attention", "") == "vision"
    return Towers(parameters, exact=known, batch_tokens=GEMMA4_VIDEO_TOKENS if both_ways else 0)


def _count_vision_parameters(vision: ConfigValues, *, gemma4: bool) -> int:
    width, depth, inner = (vision.read_count(key) for key in ("hidden_size", "num_hidden_layers", "intermediate_size"))
    if not gemma4:
        return depth * (4 * width * width + 3 * width * inner)
    head = vision.read_count("head_dim", width // vision.read_count("num_attention_heads"))
    layer = 4 * width * width + 3 * width * inner + 4 * width + 2 * head
    patch, places = vision.read_count("patch_size", 16), vision.read_count("position_embedding_size", 10240)
    return depth * layer + 3 * patch * patch * width + 2 * places * width


def _read_quantization(config: ConfigValues) -> Quantization | None:
    table = config.read_table("quantization_config")
    if table is None:
        return None
    group = table.read_count("group_size", 0)
    for scheme in (table.read_table("config_groups") or table).iterate_direct_child_tables():
        weights = scheme.read_table("weights")
        group = group or (weights.read_count("group_size", 0) if weights else 0)
    kv_scheme = table.read_table("kv_cache_scheme")
    kv_fp8 = table.read_word("kv_cache_quant_algo", "").upper() == "FP8" or bool(
        kv_scheme and kv_scheme.read_count("num_bits", 0) == 8
    )
    return Quantization(table.read_word("quant_method", "unknown"), group or None, kv_fp8)
