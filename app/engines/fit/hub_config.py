"""Read a checkpoint's Hugging Face config.json into a ModelShape."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from app.engines.fit.hub_layers import ONLY_EXPERTS, layers_of, rope_dims_of
from app.engines.fit.hub_values import Values
from app.engines.fit.shape import Quantization, Shape, Towers
from app.errors import BadInput
from app.text.bounded import read_bounded

DENSE = (
    *("llama", "mistral", "ministral", "ministral3", "qwen2", "qwen3", "phi3", "granite", "smollm3", "olmo2", "olmo3"),
    *("gemma", "gemma2", "gemma3", "gemma3_text", "gemma4", "gemma4_text"),
)
LARGEST_CONFIG = 4_000_000
GEMMA4_AUDIO = 304_824_608
"""Parameters of the audio encoder of E2B and E4B, counted in the module."""
GEMMA4_VIDEO_TOKENS = 32 * (70 + 8)
"""vLLM plans for 32 frames of 70 tokens plus markers."""


def read_config(path: Path) -> Shape:
    file = path / "config.json" if path.is_dir() else path
    try:
        raw = read_bounded(file, LARGEST_CONFIG)
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
    return shape_of_config(config, str(file))


def shape_of_config(config: Mapping[str, Any], where: str) -> Shape:
    whole = Values(config, where)
    text = whole.table("text_config") or whole
    architecture = _architecture(whole, text)
    hidden = text.count("hidden_size")
    layers = layers_of(text, architecture)
    experts = _experts(text, architecture)
    per_layer = text.count("hidden_size_per_layer_input", 0)
    return Shape(
        name=where,
        architecture=architecture,
        hidden=hidden,
        heads=text.count("num_attention_heads"),
        layers=layers,
        vocab=text.count("vocab_size"),
        positions=text.count("max_position_embeddings"),
        tied=text.flag("tie_word_embeddings", whole.flag("tie_word_embeddings", architecture.startswith("gemma"))),
        window=text.count("sliding_window") if any(layer.kind == "sliding" for layer in layers) else None,
        rope_dims=rope_dims_of(text, layers),
        norms_per_layer=4 if architecture.startswith(("gemma2", "gemma3", "gemma4")) else 2,
        norms_heads=architecture.startswith(("gemma3", "gemma4", "qwen3", "olmo2", "olmo3")),
        per_layer_input=per_layer,
        per_layer_vocab=text.count("vocab_size_per_layer_input", text.count("vocab_size")) if per_layer else 0,
        experts=experts,
        experts_per_token=_experts_per_token(text) if experts else 0,
        towers=_towers(whole, text, architecture, hidden),
        quantization=_quantization(text) or _quantization(whole),
    )


def _architecture(whole: Values, text: Values) -> str:
    named = text.word("model_type", "") or whole.word("model_type")
    if named in (*DENSE, *ONLY_EXPERTS):
        return named
    known = ", ".join((*DENSE, *ONLY_EXPERTS))
    raise whole.wrong(f"its architecture {named!r} is none that can be reckoned here (known: {known})")


def _experts(text: Values, architecture: str) -> int:
    if architecture in ONLY_EXPERTS or text.flag("enable_moe_block", default=False):
        return text.count("num_local_experts", 0) or text.count("num_experts")
    return 0


def _experts_per_token(text: Values) -> int:
    return text.count("top_k_experts", 0) or text.count("num_experts_per_tok")


def _towers(whole: Values, text: Values, architecture: str, hidden: int) -> Towers | None:
    vision, audio = whole.table("vision_config"), whole.table("audio_config")
    if vision is None and audio is None:
        return None
    known = architecture.startswith("gemma4")
    parameters = 0
    if vision is not None:
        parameters += _vision(vision, gemma4=known) + vision.count("hidden_size") * hidden
    if audio is not None:
        parameters += GEMMA4_AUDIO + audio.count("output_proj_dims", 1536) * hidden
    both_ways = known and text.word("use_bidirectional_attention", "") == "vision"
    return Towers(parameters, exact=known, batch_tokens=GEMMA4_VIDEO_TOKENS if both_ways else 0)


def _vision(vision: Values, *, gemma4: bool) -> int:
    width, depth, inner = (vision.count(key) for key in ("hidden_size", "num_hidden_layers", "intermediate_size"))
    if not gemma4:
        return depth * (4 * width * width + 3 * width * inner)
    head = vision.count("head_dim", width // vision.count("num_attention_heads"))
    layer = 4 * width * width + 3 * width * inner + 4 * width + 2 * head
    patch, places = vision.count("patch_size", 16), vision.count("position_embedding_size", 10240)
    return depth * layer + 3 * patch * patch * width + 2 * places * width


def _quantization(config: Values) -> Quantization | None:
    table = config.table("quantization_config")
    if table is None:
        return None
    group = table.count("group_size", 0)
    for scheme in (table.table("config_groups") or table).tables():
        weights = scheme.table("weights")
        group = group or (weights.count("group_size", 0) if weights else 0)
    kv_scheme = table.table("kv_cache_scheme")
    kv_fp8 = table.word("kv_cache_quant_algo", "").upper() == "FP8" or bool(
        kv_scheme and kv_scheme.count("num_bits", 0) == 8
    )
    return Quantization(table.word("quant_method", "unknown"), group or None, kv_fp8)
